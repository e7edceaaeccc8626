"""Records from the opening of the books, which are reversed only with the whole opening."""

from uuid import UUID

from accounting.errors import Conflict


def refuse_in_opening(opening_id: UUID | None, what: str) -> None:
    """Refuse to change a record that is a part of an opening.

    Raises Conflict `in_opening_balance`.
    """
    if opening_id is not None:
        raise Conflict(
            "in_opening_balance",
            f"The {what} came with the opening of the books. Reverse the whole opening instead.",
            opening_balance_id=str(opening_id),
        )
