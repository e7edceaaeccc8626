"""The SDKs as partners install them: their types, their retries, their calls."""

import re
import shutil
import sys
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any, Final

from tests.contract.document import document, operations
from tools.clients.tests.downloads import README_OF_TYPESCRIPT
from tools.clients.tests.generators import PythonClient, TypeScriptClient, run
from tools.clients.typescript_operations import UNSEEN, is_a_partners

CHECKS: Final = Path("tools/clients/tests")
SAMPLES: Final = Path("tools/clients/samples")


@dataclass(frozen=True, slots=True)
class PythonSdk(PythonClient):
    """The wheel, with its tests of retries."""

    def check(self, programs: Path) -> int:
        """Check all types and retries; return the number of modules."""
        modules = PythonClient.check(self, programs)
        words = ("--config-file=", "--strict")
        run(programs / "mypy", *words, SAMPLES / "receiver.py", modules=self.folder)
        alone = ("-m", "pytest", "-q", "--noconftest")  # It needs no server under test.
        checks = [CHECKS / f"check_{name}.py" for name in ("sdk", "events", "receiver")]
        run(sys.executable, *alone, *checks, modules=self.folder)
        return modules


@dataclass(frozen=True, slots=True)
class TypeScriptSdk(TypeScriptClient):
    """The npm package, unpacked where an import finds it, with its tests of retries."""

    def generate(self, programs: Path) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        package = self.folder / "node_modules/accounting-sdk"
        package.mkdir(parents=True)
        [packed] = Path("dist/sdk-typescript").glob("*.tgz")
        run("tar", "-xzf", packed, "--strip-components=1", "-C", package)

    def check(self, programs: Path) -> int:
        """Compile its calls and README, check its retries; return the number of modules."""
        modules = len(list(self.folder.rglob("*.ts")))
        receiver = Path(shutil.copy(SAMPLES / "receiver.mts", self.folder))
        self.compile(self.calls(), write_readme(self.folder), receiver)
        (self.folder / "operations.json").write_text(dumps(opened()), encoding="utf-8")
        (self.folder / "messages.json").write_text(dumps(messages()), encoding="utf-8")
        checks = [
            shutil.copy(CHECKS / f"check_{name}.mjs", self.folder) for name in ("sdk", "events")
        ]
        run("node", "--test", *checks)
        return modules


PYTHON: Final = PythonSdk(
    name="the SDK for Python",
    journey="sdk.py",
    words=(
        *("pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"),
        *("--find-links", "dist/sdk", "--target", "{folder}", "accounting-sdk"),
    ),
    repeats=True,
    package="accounting_sdk",
    strict=True,
)
TYPESCRIPT: Final = TypeScriptSdk(
    name="the SDK for TypeScript",
    journey="sdk.mts",
    words=(),
    repeats=True,
)


def opened() -> list[dict[str, Any]]:
    """Return each operation that is a method, with its required tokens."""
    return [
        {
            "id": each.name,
            "method": each.method.upper(),
            "path": each.path,
            "isAPartners": is_a_partners(each.path, each.node),
            "tokens": [name for choice in each.node["security"] for name in choice],
            "hasBody": "requestBody" in each.node,
            "takesKey": each.takes("Idempotency-Key"),
        }
        for each in operations()
        if each.name not in UNSEEN
    ]


def messages() -> dict[str, Any]:
    """Return the examples of webhooks of the contract."""
    examples = document()["components"]["examples"]
    return {name: examples[name]["value"] for name in ("WebhookMessage", "WebhookPing")}


def write_readme(folder: Path) -> Path:
    """Write all code of the README for TypeScript as one module; return its path."""
    given = ("BASE_URL", "PARTNER_ID", "API_KEY", "BUSINESS_ID", "INVOICE_ID")
    declared = "".join(f"declare const {name}: string;\n" for name in given)
    text = README_OF_TYPESCRIPT.read_text(encoding="utf-8")
    module = folder / "readme.mts"
    blocks = re.findall(r"```ts\n(.*?)```", text, re.S)
    module.write_text(declared + "".join(blocks), encoding="utf-8")
    return module
