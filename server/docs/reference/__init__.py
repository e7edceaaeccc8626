"""The reference: the contract as HTML pages."""

from typing import Final

ROOT: Final = "/docs/"
