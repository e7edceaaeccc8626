"""Warnings about a whole request: the server adds them to the `warnings` of its answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from accounting.trade.parties import CreatedParty
from handlers.results import Created, ExistingRecord
from handlers.shared import repeats
from handlers.shared.external_names import NamedBody
from handlers.shared.responses import MOST_TOLD, Warnings
from persistence.books import Books
from persistence.partners.registry import Registry


async def added(value: Any, opened: Books | Registry, named: NamedBody) -> Any:
    """Add warnings about the whole request to an answer.

    They name each customer or vendor that the request created, and each field of its body that
    differs from the existing record, if the answer has one.
    """
    told: Warnings = []
    if isinstance(value, ExistingRecord):
        told = await repeats.warnings(opened, named, value)
        value = value.value
    told += of_created_parties(opened.created_parties)
    if not told:
        return value
    if isinstance(value, Created):
        return replace(value, value=_with(value.value, told))
    return _with(value, told)


def of_created_parties(created: Sequence[CreatedParty]) -> Warnings:
    """Name each created customer and vendor; the last of 20 entries counts the rest, if any."""
    named = [
        {
            "field": each.field,
            "message": f'is unknown: the {each.noun} "{each.external_id}" is created',
        }
        for each in created[:MOST_TOLD]
    ]
    more = len(created) - MOST_TOLD
    if more > 0:
        named[-1]["message"] += f", and {more} more customers and vendors"
    return named


def _with(answer: dict[str, Any], told: Warnings) -> dict[str, Any]:
    """Add warnings to the first object of an answer that has any, else to the answer itself."""
    for name, each in answer.items():
        if "warnings" not in answer and isinstance(each, dict) and "warnings" in each:
            return {**answer, name: _with(each, told)}
    return {**answer, "warnings": [*told, *answer.get("warnings", ())][:MOST_TOLD]}
