"""The limits of fields in the specification, compared with those of the contract."""

from dataclasses import dataclass
from typing import Any

from tests.contract.document import Node, follow, named, operations
from tests.contract.specified import SpecificationError, lines_of, property_of

KEYWORDS = ("minLength", "maxLength", "minimum")


@dataclass(frozen=True)
class Limit:
    """A limit of a field in the JSON body of an operation; for a list of texts, of each text."""

    operation: str
    field: str
    keyword: str
    value: int

    @property
    def name(self) -> str:
        return f"`{self.operation}`: `{self.field}`, {self.keyword}"

    @property
    def node(self) -> Node:
        """Return the schema of the field."""
        content = named(self.operation).node["requestBody"]["content"]
        return follow(property_of(content["application/json"]["schema"], self.field))

    @property
    def limited(self) -> Node:
        """Return the schema that has the limit."""
        node = self.node
        return follow(node["items"]) if node["type"] == "array" else node

    def check(self) -> None:
        """Raise SpecificationError if the contract has another limit.

        The limit of an enum is its longest value.
        """
        if all(each.name != self.operation for each in operations()):
            raise SpecificationError("the contract has no such operation")
        longest = max(map(len, self.limited.get("enum", ())), default=None)
        has = self.limited.get(self.keyword, longest if self.keyword == "maxLength" else None)
        if has != self.value:
            raise SpecificationError(f"it is {has}, not {self.value}")

    def reached(self) -> Any:
        """Return a value at the limit; for an enum, one of its values."""
        values = self.limited.get("enum") or self.limited.get("x-values")
        if values:
            return values[0]
        return self._of(self._sample(self.value))

    def passed(self) -> Any:
        """Return a value just beyond the limit."""
        beyond = self.value + 1 if self.keyword == "maxLength" else self.value - 1
        return self._of(self._sample(beyond))

    def _sample(self, size: int) -> Any:
        if self.keyword == "minimum":
            return size
        if self.limited.get("format") == "email":
            return email_of(size)
        return "GB" if "pattern" in self.limited and size == 2 else "X" * size

    def _of(self, value: Any) -> Any:
        return [value] if self.node["type"] == "array" else value


def email_of(length: int) -> str:
    """Return an address of a length, with no part longer than an address allows."""
    domain, rest = "example.com", length - 64 - len("@example.com")
    while rest > 0:
        label = min(rest - 1, 60)
        domain = f"{'d' * label}.{domain}"
        rest -= label + 1
    return f"{'l' * 64}@{domain}"


def limits() -> list[Limit]:
    """Return every limit in the specification."""
    found = (line.split() for line in lines_of("limits"))
    return [Limit(name, field, keyword, int(value)) for name, field, keyword, value in found]
