"""Generators of clients of the contract, and the checks that a client works."""

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

PUBLISHED: Final = Path("dist/profiles/accounting.yaml")
# Of several content types of a body, each generator uses another than the body's own.
FOR_GENERATORS: Final = Path("dist/profiles/accounting.sdk.yaml")
GENERATED: Final = Path("dist/clients")
JOURNEYS: Final = Path("tools/clients/journeys")
NODE: Final = Path("node_modules/.bin")
# A generator in Java ends before compiled code would pay for its compilation.
SHORT_LIVED_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class ClientError(Exception):
    """A failure of a generator, a compiler or a client, with its output."""


def run(
    *words: str | Path,
    path: Path | None = None,
    modules: Path | None = None,
    folder: Path | None = None,
) -> str:
    """Run a command and return its output; `path` goes before PATH, `modules` is PYTHONPATH.

    `folder` is where it runs.

    Raises ClientError with the whole output.
    """
    environment = {"JAVA_TOOL_OPTIONS": SHORT_LIVED_JAVA, **os.environ}
    if path is not None:
        environment["PATH"] = f"{path.resolve()}{os.pathsep}{environment['PATH']}"
    if modules is not None:
        environment["PYTHONPATH"] = str(modules.resolve())
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=environment, cwd=folder
    )
    if done.returncode:
        raise ClientError(
            f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


@dataclass(frozen=True, slots=True)
class Client(ABC):
    """A client generated from the contract by a command; `journey` is the file of its calls.

    `repeats`: it repeats calls and renews tokens by itself. `checked`: the result of `check`.
    """

    checked: ClassVar[str]

    name: str
    journey: str
    words: tuple[str | Path, ...]
    repeats: bool = False

    @property
    def folder(self) -> Path:
        """The folder of the generated client."""
        return GENERATED / self.journey.replace(".", "_")

    def generate(self, programs: Path) -> None:
        """Generate the client."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        words = [str(word).format(folder=self.folder) for word in self.words]
        said = run(*words, path=programs)
        if "may be missing" in said or "Unable to" in said:
            raise ClientError(said)

    @abstractmethod
    def check(self, programs: Path) -> int:
        """Load or compile the client and its calls; return the number of modules."""

    @abstractmethod
    def call(self, programs: Path, caller: list[str]) -> str:
        """Run the calls of the client; return its output."""


@dataclass(frozen=True, slots=True)
class PythonClient(Client):
    """A client in Python: its modules are imported, its types checked; `strict` is mypy's."""

    checked: ClassVar[str] = "imported, typed"

    package: str = ""
    strict: bool = False

    def check(self, programs: Path) -> int:
        """Import each module, check all types; return the number of modules."""
        package = self.folder / self.package
        files = sorted(package.rglob("*.py"))
        names = [".".join(file.relative_to(self.folder).with_suffix("").parts) for file in files]
        loading = "import importlib, sys; [importlib.import_module(n) for n in sys.argv[1:]]"
        loaded = [name.removesuffix(".__init__") for name in names]
        run(programs / "python", "-c", loading, *loaded, modules=self.folder)
        words = ("--config-file=", *(("--strict",) if self.strict else ()))
        run(programs / "mypy", *words, package, JOURNEYS / self.journey, modules=self.folder)
        return len(names)

    def call(self, programs: Path, caller: list[str]) -> str:
        return run(programs / "python", JOURNEYS / self.journey, *caller, modules=self.folder)


@dataclass(frozen=True, slots=True)
class TypeScriptClient(Client):
    """A client in TypeScript, compiled with the calls beside it."""

    checked: ClassVar[str] = "compiled"

    def check(self, programs: Path) -> int:
        """Compile the client and its calls; return the number of modules."""
        modules = len(list(self.folder.rglob("*.ts")))
        self.compile(self.calls())
        return modules

    def calls(self) -> Path:
        """Copy the calls to the client; return their path."""
        return Path(shutil.copy(JOURNEYS / self.journey, self.folder))

    @staticmethod
    def compile(*sources: Path) -> None:
        """Compile modules and all that they import; TypeScript's own libraries are unchecked."""
        options = ("--strict", "--target", "es2022", "--module", "nodenext")
        libraries = ("--lib", "es2022,dom,dom.iterable", "--skipDefaultLibCheck")
        run(NODE / "tsc", *options, *libraries, *sources)

    def call(self, programs: Path, caller: list[str]) -> str:
        return run("node", self.folder / f"{self.journey.removesuffix('ts')}js", *caller)


GENERATE: Final = ("openapi-generator-cli", "generate", "-i", FOR_GENERATORS, "-o", "{folder}")
CLIENTS: Final = (
    TypeScriptClient(
        name="openapi-typescript, openapi-fetch",
        journey="openapi_fetch.mts",
        words=(NODE / "openapi-typescript", PUBLISHED, "-o", "{folder}/contract.ts"),
    ),
    TypeScriptClient(
        name="openapi-generator, typescript-fetch",
        journey="typescript_fetch.ts",
        words=(*GENERATE, "-g", "typescript-fetch"),
    ),
    PythonClient(
        name="openapi-generator, python",
        journey="openapi_generator.py",
        words=(*GENERATE, "-g", "python"),
        package="openapi_client",
    ),
    PythonClient(
        name="openapi-python-client",
        journey="openapi_python_client.py",
        words=(
            *("openapi-python-client", "generate", "--path", FOR_GENERATORS, "--meta", "none"),
            *("--output-path", "{folder}/accounting_client"),
        ),
        package="accounting_client",
    ),
)
