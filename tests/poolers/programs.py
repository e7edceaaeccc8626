"""The download of PgBouncer: a release of Debian's, unpacked with its libraries.

`python -m tests.poolers.programs` downloads both releases of the tests, from the mirror of this
machine's own packages. The loader is included, because a program needs a C library that is not
older than its own. Nothing is installed.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "dist" / "pgbouncer"
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LOOKING_SECONDS = 120

NEW = "trixie"  # 1.24: keeps prepared statements in transaction mode.
OLD = "bookworm"  # 1.18: loses them.
COMMON = ("pgbouncer", "libc6", "libpam0g", "libsystemd0", "libcap2", "libaudit1", "libcap-ng0")
PACKAGES = {
    NEW: (*COMMON, "libcares2", "libevent-2.1-7t64", "libssl3t64", "zlib1g", "libzstd1"),
    OLD: (
        *COMMON,
        *("libc-ares2", "libevent-2.1-7", "libssl3", "libgcrypt20", "libgpg-error0"),
        *("liblzma5", "liblz4-1", "libzstd1"),
    ),
}


class NotToBeHad(Exception):
    """An unavailable PgBouncer; the message gives the reason."""


def pgbouncer(release: str) -> list[str]:
    """Return the command of a release, which is downloaded at the first use."""
    words = _found(release)
    if isinstance(words, NotToBeHad):
        raise words
    return words


@cache
def _found(release: str) -> list[str] | NotToBeHad:
    """Return the command or the error; cached, because each try without a network is slow."""
    try:
        root = _brought(release)
    except NotToBeHad as error:
        return error
    [program] = root.glob("**/sbin/pgbouncer")
    loader = sorted(root.glob("**/ld-linux*.so.*"))[0]
    libraries = {str(path.parent) for path in root.glob("**/*.so.*")}
    return [str(loader), "--library-path", ":".join(sorted(libraries)), str(program)]


def _brought(release: str) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "bringing.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        root = FOLDER / release
        if not root.exists():
            unfinished = FOLDER / f"{release}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            _bring(release, unfinished)
            unfinished.rename(root)
    return root


def _bring(release: str, root: Path) -> None:
    if shutil.which("apt-get") is None:
        raise NotToBeHad("there is no apt-get to bring PgBouncer with")
    lists, packages = root / "apt" / "lists", root / "apt" / "packages"
    for folder in (lists / "partial", packages / "partial"):
        folder.mkdir(parents=True)
    source = root / "apt" / "sources.list"
    signed = f"[signed-by={KEYS}] " if KEYS.exists() else ""
    source.write_text(f"deb {signed}{_mirror()} {release} main\n")
    options = {
        "Dir::Etc::SourceList": source,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": lists,
        "Dir::Cache": root / "apt",
        "APT::Sandbox::User": "",
        "Acquire::Retries": 3,
        "APT::Update::Error-Mode": "any",
    }
    words = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    _run([*words, "update"], packages)
    _run([*words, "download", *PACKAGES[release]], packages)
    for package in packages.glob("*.deb"):
        _run(["dpkg-deb", "--extract", str(package), str(root)], packages)
    shutil.rmtree(root / "apt")


def _mirror() -> str:
    """Return the address from which this machine has Debian's packages."""
    told = Path("/etc/os-release").read_text()
    own = re.search(r"^VERSION_CODENAME=(\w+)", told, re.MULTILINE)
    form = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(RELEASE) $(REPO_URI)"]
    for line in _run(form, Path("/")).splitlines():
        origin, release, address = line.split(" ", 2)
        if own and (origin, release) == ("Debian", own[1]):
            return address
    raise NotToBeHad("this machine has no packages of Debian's")


def _run(words: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=True,
            timeout=LOOKING_SECONDS,
        )
    except (subprocess.SubprocessError, OSError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise NotToBeHad(f"PgBouncer cannot be brought: {str(said).strip()[-300:]}") from error
    return done.stdout


def main() -> int:
    for release in PACKAGES:
        try:
            version = _run([*pgbouncer(release), "--version"], FOLDER)
        except NotToBeHad as error:
            sys.stdout.write(f"{error}\n")
            return 1
        sys.stdout.write(f"{version.splitlines()[0]}, as in {release}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
