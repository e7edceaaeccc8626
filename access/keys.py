"""What the server issues to callers: tokens, and links to documents."""

from dataclasses import dataclass

from access.links import LinkSigner
from access.tokens import Keyring


@dataclass(frozen=True, slots=True)
class Keys:
    """Both are derived from one ring of master secrets, under keys of their own."""

    keyring: Keyring
    signer: LinkSigner
