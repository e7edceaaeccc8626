"""The parameters of commands: a wrong value is refused before a command does any work.

A parser raises ValueError with the reason; `cli/failures.py` adds the parameter and the value.
Every command imports this module, so it must not import the database code at module level.
"""

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

import typer

ID_LIKE = "0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02"
OF_PARTNERS = "`accounting partner list` shows the ids of partners"
OF_BUSINESSES = "`GET /v1/platform/businesses/` shows the ids of a partner's businesses"
KEY_ID_LENGTH = 8
LONGEST_LINE = 255  # Characters, as the contract has it for names and external ids.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def _id(text: str, where: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ValueError(f"an id is like {ID_LIKE}, and {where}") from None


def partner_id(text: str) -> UUID:
    """Return the id of a partner."""
    return _id(text, OF_PARTNERS)


def business_id(text: str) -> UUID:
    """Return the id of a business."""
    return _id(text, OF_BUSINESSES)


def key_id(text: str) -> str:
    """Return the short id of an API key; the error does not repeat a key that was given instead."""
    if text.startswith("apk_"):
        raise typer.BadParameter(
            f"the short id of a key is needed, its {KEY_ID_LENGTH} characters after the second _"
        )
    if len(text) != KEY_ID_LENGTH or not text.isascii() or not text.isalnum():
        raise ValueError(
            f"the short id of a key has {KEY_ID_LENGTH} letters and digits, and"
            " `accounting partner list` shows it"
        )
    return text


def line_of_text(text: str) -> str:
    """Return a name or an external id."""
    if not text.strip() or not text.isprintable() or len(text) > LONGEST_LINE:
        raise ValueError(
            f"one line of text is needed, not blank, of at most {LONGEST_LINE} characters"
        )
    return text


def new_path(text: str) -> Path:
    """Return the path of a file or folder to make; raises CannotWrite if it exists."""
    from persistence.archives.atomic_write import refuse_taken

    target = Path(text)
    refuse_taken(target)
    return target


def report_file(text: str) -> Path:
    """Return the path of a report, which may replace an earlier one."""
    file = Path(text)
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise ValueError("a file in an existing folder is needed")
    return file


def key_file(text: str) -> Path:
    """Return the path of a file with an API key; - is standard input."""
    file = Path(text)
    if text != "-" and not (file.is_file() and os.access(file, os.R_OK)):
        raise ValueError("a file that can be read is needed, or - for standard input")
    return file


def host_url(text: str) -> str:
    """Return the base URL of a host to which credentials may be sent.

    The error does not repeat the address, which may contain a password.
    """
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise typer.BadParameter("A host is needed, as https://sandbox.example.com")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise typer.BadParameter("The address of a host has no more than its name and port")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise typer.BadParameter("Credentials go over https only, except to this machine")
    return f"{parts.scheme}://{parts.netloc}"


def listening_host(text: str) -> str:
    """Return the address to listen on."""
    if not text or not text.isascii() or set(text) & set(" /@?#[]"):
        raise ValueError("an address or a name of this machine is needed, as 127.0.0.1")
    return text


PartnerId = Annotated[UUID, typer.Argument(parser=partner_id, help="The partner's id.")]
BusinessId = Annotated[UUID, typer.Argument(parser=business_id, help="The business's id.")]
OneBusiness = Annotated[
    UUID | None, typer.Option(parser=business_id, help="Only the business with this id.")
]
