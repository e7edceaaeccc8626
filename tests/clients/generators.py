"""Who makes clients of the contract, and what shows that one works."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Of a body of several content types each of them takes another than it says.
FOR_GENERATORS: Final = Path("dist/profiles/accounting.sdk.yaml")
GENERATED: Final = Path("dist/clients")
CALLS: Final = Path("clients/generated")


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
class PythonClient:
    """One that is made in Python: each of its modules is imported, all its types are checked.

    `known` are faults of types that the generator's own templates have, whatever the contract;
    `strict` holds types against mypy's strict rules.
    """

    name: str
    package: str
    calls: str
    known: tuple[str, ...]
    words: tuple[str, ...]
    strict: bool = False

    def generate(self, programs: Path) -> None:
        """Make it anew."""
        folder = GENERATED / self.calls
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        places = {"contract": FOR_GENERATORS, "folder": folder, "package": self.package}
        words = [word.format(**places) for word in self.words]
        said = run(programs / words[0], *words[1:], path=programs)
        if "may be missing" in said or "Unable to" in said:
            raise Failed(said)

    def check(self, programs: Path) -> int:
        """Import each module, check all types and those of our calls; count the modules."""
        folder = GENERATED / self.calls
        files = sorted((folder / self.package).rglob("*.py"))
        names = [".".join(file.relative_to(folder).with_suffix("").parts) for file in files]
        loading = "import importlib, sys; [importlib.import_module(n) for n in sys.argv[1:]]"
        python = programs / "python"
        run(python, "-c", loading, *(n.removesuffix(".__init__") for n in names), modules=folder)
        self._check_types(programs, folder)
        return len(names)

    def _check_types(self, programs: Path, folder: Path) -> None:
        package, calls = folder / self.package, CALLS / f"{self.calls}.py"
        try:
            strictly = ("--strict",) if self.strict else ()
            words = ("--config-file=", *strictly, package, calls)
            run(programs / "mypy", *words, modules=folder)
        except Failed as failure:
            lines = [line for line in str(failure).splitlines() if ": error: " in line]
            unknown = [line for line in lines if not any(each in line for each in self.known)]
            if unknown or not lines:
                raise Failed("\n".join(unknown) or str(failure)) from None

    def call(self, programs: Path, caller: list[str]) -> str:
        """Let it call a server; return what it printed."""
        calls = CALLS / f"{self.calls}.py"
        return run(programs / "python", calls, *caller, modules=GENERATED / self.calls)


PYTHON_CLIENTS: Final = (
    PythonClient(
        name="openapi-generator, python",
        package="openapi_client",
        calls="openapi_generator",
        known=(),
        words=(
            *("openapi-generator-cli", "generate", "-g", "python", "-i", "{contract}"),
            *("-o", "{folder}", "--package-name", "{package}"),
        ),
    ),
    PythonClient(
        name="openapi-python-client",
        package="accounting_client",
        calls="openapi_python_client",
        known=("__exit__", "__aexit__"),  # What it hands on as `*args: object`.
        words=(
            *("openapi-python-client", "generate", "--path", "{contract}", "--meta", "none"),
            *("--output-path", "{folder}/{package}"),
        ),
    ),
)


def compile_typescript(programs: Path) -> int:
    """Make openapi-generator's client for fetch and compile it; return how many modules it has."""
    folder = GENERATED / "typescript_fetch"
    shutil.rmtree(folder, ignore_errors=True)
    generator = programs / "openapi-generator-cli"
    words = ("generate", "-g", "typescript-fetch", "-i", FOR_GENERATORS, "-o", folder)
    run(generator, *words, path=programs)
    compiler = Path("node_modules/.bin/tsc")
    options = ("--noEmit", "--strict", "--target", "es2022", "--moduleResolution", "bundler")
    run(compiler, *options, "--module", "es2022", folder / "index.ts")
    return len(list(folder.rglob("*.ts")))
