"""Marks of tests that run for many operations in turn."""

from collections.abc import Iterable

from tests.contract.document import Operation, bodies, operations
from tests.in_turn import Marker, in_turn


def each_of(found: Iterable[Operation]) -> Marker:
    """Mark a test that runs for these operations."""
    return in_turn("operation", [*found], ids=lambda each: each.name)


def each_taking(content_type: str) -> Marker:
    """Mark a test that runs for the operations with a body of a content type."""
    return each_of(each for each in operations() if content_type in bodies(each))


each_operation = each_of(operations())
