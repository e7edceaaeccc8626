"""The user that PostgreSQL runs as: it refuses to run as root, and initdb needs a named user.

An ordinary user runs it directly. Root runs it in a user namespace, in which root's files appear to
belong to another user; where the machine denies namespaces, root runs it as `nobody`.
"""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from libraries.embedded.binaries import Programs, copy_programs
from libraries.embedded.errors import EmbeddedError

# The caller's environment is not passed on: PGPORT or PGDATA would change the behaviour.
ENVIRONMENT: Final = {"LC_ALL": "C", "PATH": os.defpath}


@dataclass(frozen=True, slots=True)
class Identity:
    """The user that runs PostgreSQL, its programs, and the owner of its files outside the
    namespace.
    """

    programs: Programs
    prefix: tuple[str, ...]
    owner: int
    group: int
    drops_root: bool

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command line that runs one of the programs."""
        return [*self.prefix, str(self.programs.folder / program), *arguments]

    def options(self) -> dict[str, Any]:
        """Return keyword arguments for `subprocess`: a clean environment and the user to become."""
        return {"env": dict(ENVIRONMENT), "cwd": "/", **_becoming(self)}


def possible_owners() -> frozenset[int]:
    """Return the allowed owners of a home folder: this user and, for root, also `nobody`."""
    mine = os.geteuid()
    return frozenset({mine, pwd.getpwnam("nobody").pw_uid} if mine == 0 else {mine})


def choose_identity(home: Path, programs: Programs, use_namespaces: bool = True) -> Identity:
    """Return a working way to run PostgreSQL for `home`, found by trying.

    As root without namespaces, the ownership of the home folder is changed to `nobody` for good,
    and programs that `nobody` cannot read are copied there. Raises EmbeddedError if there is no
    way.
    """
    mine, group = os.geteuid(), os.getegid()
    if mine != 0 and _has_name(mine):
        return Identity(programs, (), mine, group, drops_root=False)
    prefix = _namespace_prefix() if use_namespaces else ()
    if prefix:
        identity = Identity(programs, prefix, mine, group, drops_root=False)
        if _reaches(identity, home) and _runs(identity):
            return identity
    if mine == 0:
        return _as_nobody(home, programs)
    raise EmbeddedError(
        f"user id {mine} has no name on this machine and may not make user namespaces, which"
        " PostgreSQL's initdb needs: run as a named user or set DATABASE_URL"
    )


def _as_nobody(home: Path, programs: Programs) -> Identity:
    nobody = pwd.getpwnam("nobody")
    identity = Identity(programs, (), nobody.pw_uid, nobody.pw_gid, drops_root=True)
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    if not _reaches(identity, home):
        raise EmbeddedError(
            f"PostgreSQL cannot run as root, and the user 'nobody' cannot reach {home}: keep the"
            " data in a folder that others may pass through, run as an ordinary user, or set"
            " DATABASE_URL"
        )
    if _runs(identity):
        return identity
    copy = copy_programs(programs, home / f"programs-{programs.version}")
    return Identity(copy, (), nobody.pw_uid, nobody.pw_gid, drops_root=True)


def _namespace_prefix() -> tuple[str, ...]:
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    # Any named user works, except root and 65534, which represents all unmapped users.
    names = (user.pw_uid for user in pwd.getpwall() if user.pw_uid not in (0, 65534))
    user = next(names, 65534)
    return (unshare, "--user", f"--map-user={user}", f"--map-group={user}", "--")


def _has_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _becoming(identity: Identity) -> dict[str, Any]:
    if not identity.drops_root:
        return {}
    return {"user": identity.owner, "group": identity.group, "extra_groups": []}


def _reaches(identity: Identity, home: Path) -> bool:
    return _succeeds(identity, [*identity.prefix, "/bin/sh", "-c", 'cd -- "$0"', str(home)])


def _runs(identity: Identity) -> bool:
    return _succeeds(identity, identity.command("initdb", "--version"))


def _succeeds(identity: Identity, command: list[str]) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, check=False, **identity.options())
    except OSError:  # The new user may not be able to start the program.
        return False
    return done.returncode == 0
