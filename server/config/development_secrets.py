"""The token secrets of a development server: created once, in a file only its owner can read.

Workers and restarts must share them, or every restart would invalidate all tokens. A production
server does not use this module; its secrets are configured.
"""

import os
import secrets
import stat
from pathlib import Path

_NAME = "development-secrets"
_SIZE_LIMIT_BYTES = 4096


def path_in(data_dir: Path) -> Path:
    """Return the path of the secret file in a data folder."""
    return data_dir / _NAME


def read_or_make(data_dir: Path) -> str:
    """Return the ring stored in the data folder, in the form of ACCOUNTING_SECRET_KEYS.

    Creates folder and file if they do not exist. OSError if that fails, and PermissionError if
    others than the owner may read the file.
    """
    path = path_in(data_dir)
    try:
        return _read(path)
    except FileNotFoundError:
        _make(path)
        return _read(path)


def _read(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode) or mode & 0o077:
            raise PermissionError(f"{path} must be a file that only its owner can read")
        return file.read(_SIZE_LIMIT_BYTES).decode("ascii", "replace").strip()


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{_NAME}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with open(os.open(draft, flags, 0o600), "w", encoding="ascii") as file:
            file.write(f"development:{secrets.token_urlsafe(32)}\n")
            file.flush()
            os.fsync(file.fileno())
        # A link appears whole or not at all, and fails when another process was first. Then all
        # processes use the secret of that process.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
