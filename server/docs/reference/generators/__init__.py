"""Settings of generators of clients, and the commands that use them."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

COMMANDS: Final = "commands.toml"
# The form of the contract that each command reads from the folder it runs in.
INPUT: Final = "openapi.sdk.json"


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator: what it makes, how it is installed and called.

    `settings` is the name of a file in this package, or empty. `types` has the generated files
    whose types are checked.
    """

    name: str
    makes: str
    install: str
    command: str
    types: str
    settings: str = ""

    @property
    def text(self) -> str:
        """The text of its settings."""
        return (
            (files(__name__) / self.settings).read_text(encoding="utf-8") if self.settings else ""
        )


def generators() -> list[Generator]:
    """Return all generators, in the order of the page."""
    told = tomllib.loads((files(__name__) / COMMANDS).read_text(encoding="utf-8"))
    return [Generator(**each) for each in told["generator"]]
