"""The SDKs as partners install them: their types, their retries, their calls."""

import re
import shutil
import sys
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any, Final

from tests.contract.document import operations
from tests.partner import Partner
from tools.clients.tests.generators import ClientError, PythonClient, TypeScriptClient, run
from tools.clients.typescript_operations import PARTNERS_TAGS, UNSEEN

README: Final = Path("tools/clients/python/README.md")
README_OF_TYPESCRIPT: Final = Path("tools/clients/typescript/README.md")
CHECKS: Final = Path("tools/clients/tests")


@dataclass(frozen=True, slots=True)
class PythonSdk(PythonClient):
    """The wheel, with its tests of retries."""

    def check(self, programs: Path) -> int:
        """Check all types and retries; return the number of modules."""
        modules = PythonClient.check(self, programs)
        run(sys.executable, "-m", "pytest", "-q", CHECKS / "check_sdk.py", modules=self.folder)
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
        modules = TypeScriptClient.check(self, programs)
        self.compile(write_readme(self.folder))
        (self.folder / "operations.json").write_text(dumps(opened()), encoding="utf-8")
        run("node", "--test", shutil.copy(CHECKS / "check_sdk.mjs", self.folder))
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
            "isAPartners": each.node["tags"][0] in PARTNERS_TAGS,
            "tokens": [name for choice in each.node["security"] for name in choice],
            "hasBody": "requestBody" in each.node,
        }
        for each in operations()
        if each.name not in UNSEEN
    ]


def write_readme(folder: Path) -> Path:
    """Write all code of the README for TypeScript as one module; return its path."""
    given = ("BASE_URL", "PARTNER_ID", "API_KEY", "BUSINESS_ID", "INVOICE_ID")
    declared = "".join(f"declare const {name}: string;\n" for name in given)
    text = README_OF_TYPESCRIPT.read_text(encoding="utf-8")
    module = folder / "readme.mts"
    blocks = re.findall(r"```ts\n(.*?)```", text, re.S)
    module.write_text(declared + "".join(blocks), encoding="utf-8")
    return module


def send_first_invoice(programs: Path, partner: Partner) -> None:
    """Run the first example of the README; raise ClientError unless it sends an invoice."""
    given = "import sys; BASE_URL, PARTNER_ID, API_KEY, BUSINESS_ID = sys.argv[1:]\n"
    business = partner.business()
    words = (partner.url, str(partner.partner_id), partner.api_key, business.id)
    block = given + shown(README)
    said = run(programs / "python", "-c", block, *words, modules=PYTHON.folder)
    if said != "INV-000001\n":
        raise ClientError(f"{README} says {said}")


def shown(readme: Path) -> str:
    """Return the first example of the SDK in a README."""
    blocks = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)
    return next(block for block in blocks if "accounting_sdk" in block)
