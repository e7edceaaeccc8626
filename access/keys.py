"""The keys under which the server issues tokens and links to documents."""

from dataclasses import dataclass

from access.links import LinkSigner
from access.tokens import Keyring


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys for tokens and for links, derived separately from one ring of master secrets."""

    keyring: Keyring
    signer: LinkSigner
