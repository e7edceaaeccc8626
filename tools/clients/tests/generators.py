"""Who makes clients of the contract, and what shows that one works."""

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

PUBLISHED: Final = Path("dist/profiles/accounting.yaml")
# Of a body of several content types each of them takes another than it says.
FOR_GENERATORS: Final = Path("dist/profiles/accounting.sdk.yaml")
GENERATED: Final = Path("dist/clients")
JOURNEYS: Final = Path("tools/clients/journeys")
NODE: Final = Path("node_modules/.bin")


class Failed(Exception):
    """A generator, a compiler or a client said no; the message is what it said."""


def run(*words: str | Path, path: Path | None = None, modules: Path | None = None) -> str:
    """Run a command and return what it printed; `path` goes before PATH, `modules` is PYTHONPATH.

    Raises Failed with all that it said.
    """
    environment = dict(os.environ)
    if path is not None:
        environment["PATH"] = f"{path.resolve()}{os.pathsep}{environment['PATH']}"
    if modules is not None:
        environment["PYTHONPATH"] = str(modules.resolve())
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Client(ABC):
    """One that is made of the contract by a command; `journey` is the file of its calls.

    `repeats` says that it repeats calls and renews tokens by itself, `checked` what `check` does.
    """

    checked: ClassVar[str]

    name: str
    journey: str
    words: tuple[str | Path, ...]
    repeats: bool = False

    @property
    def folder(self) -> Path:
        """Where it is made."""
        return GENERATED / self.journey.replace(".", "_")

    def generate(self, programs: Path) -> None:
        """Make it anew."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        words = [str(word).format(folder=self.folder) for word in self.words]
        said = run(*words, path=programs)
        if "may be missing" in said or "Unable to" in said:
            raise Failed(said)

    @abstractmethod
    def check(self, programs: Path) -> int:
        """Load or compile all of it and its calls; count the modules."""

    @abstractmethod
    def call(self, programs: Path, caller: list[str]) -> str:
        """Let it make its calls; return what it printed."""


@dataclass(frozen=True, slots=True)
class PythonClient(Client):
    """Each module of its package is imported, all its types are checked; `strict` is mypy's."""

    checked: ClassVar[str] = "imported, typed"

    package: str = ""
    strict: bool = False

    def check(self, programs: Path) -> int:
        """Import each module, check all types and those of the calls; count the modules."""
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
        """Let it make its calls; return what it printed."""
        return run(programs / "python", JOURNEYS / self.journey, *caller, modules=self.folder)


@dataclass(frozen=True, slots=True)
class TypeScriptClient(Client):
    """Its calls are compiled beside it, and with them all that they import."""

    checked: ClassVar[str] = "compiled"

    def check(self, programs: Path) -> int:
        """Compile all of it; count the modules."""
        modules = len(list(self.folder.rglob("*.ts")))
        self.compile(shutil.copy(JOURNEYS / self.journey, self.folder))
        return modules

    def compile(self, source: Path) -> None:
        """Compile a module and all that it imports."""
        options = ("--strict", "--target", "es2022", "--module", "nodenext")
        run(NODE / "tsc", *options, "--lib", "es2022,dom,dom.iterable", source)

    def call(self, programs: Path, caller: list[str]) -> str:
        """Let it make its calls; return what it printed."""
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
