"""The reference: the contract as pages for people."""

from typing import Final

ROOT: Final = "/docs/"
