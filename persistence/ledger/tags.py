"""Copies of journal lines by the current tags of their documents, or by their own tags.

Tags of documents are not posted. When they change, the tagged lines are rewritten, so the new tags
also apply to past periods. Documents without tags cost nothing. Manual entries and bank
transactions have no tags: each of their lines is posted with its own.
"""

from collections.abc import Iterator
from uuid import UUID

from accounting.books.periods import Period
from accounting.books.report_filter import Basis
from persistence import tables
from persistence.engine.sql import Fetch, Query, Row
from persistence.scope import Scope

TAGGED = tuple(
    table
    for table in tables.metadata.sorted_tables
    if "transaction_tags" in table.c and table not in (tables.customer, tables.vendor)
)
"""The tables of records whose tags apply to their journal lines."""

ANY_TAG = ""
"""The value that represents any tag; it is not a valid tag itself."""

# Sources that have no tags, and whose entries concern no other document.
_NEVER_TAGGED = {
    "manual",
    "payout",
    "bank_transaction",
    "bank_transfer",
    "opening_balance",
    "revaluation",
    "tax_return",
}

_WRITE = "SELECT tag_documents(%(business_id)s, %(documents)s::uuid[])"

# The documents that have tags now, or had tags when their lines were written, or tagged lines.
OF_ALL = " UNION ".join(
    [
        *(
            f"SELECT id FROM {table.name} WHERE {table.name}.business_id = %(business_id)s"
            " AND transaction_tags <> '[]'"
            for table in TAGGED
        ),
        "SELECT document_id FROM tagged_line WHERE tagged_line.business_id = %(business_id)s",
        "SELECT document_id FROM journal_line WHERE journal_line.business_id = %(business_id)s"
        " AND tags IS NOT NULL",
    ]
)


# A partial index on the days of lines with several tags serves this statement.
OVERLAP = """
SELECT EXISTS (
  SELECT FROM tagged_line
  WHERE tagged_line.business_id = %(business_id)s AND has_several
    AND entry_date BETWEEN %(first)s AND %(last)s
    AND CASE WHEN %(on_cash)s THEN in_cash ELSE in_ledger END
) AS overlaps"""


def writing(business_id: UUID, documents: list[UUID]) -> Query:
    """Return the statement that rewrites the tagged lines of documents."""
    return Query(_WRITE, {"business_id": business_id, "documents": documents})


class Tags:
    """The tagged lines of one business: keeps them up to date."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def overlap(self, days: Period, basis: Basis) -> Fetch[bool]:
        """Return whether a line in some days has several tags, so that it counts for each."""
        asked = {
            "business_id": self.scope.business_id,
            "first": days.first,
            "last": days.last,
            "on_cash": basis is Basis.CASH,
        }
        return Fetch(
            self.scope.session,
            (Query(OVERLAP, asked),),
            lambda answers: bool(answers[0][0]["overlaps"]),
        )

    def follow(self) -> None:
        """Stage the rewriting of tagged lines for this transaction's documents, where needed."""
        documents = sorted({*self._changed(), *self._posted_with_tags()})
        if documents:
            self.scope.staging.follow_with(writing(self.scope.business_id, documents))

    def _changed(self) -> Iterator[UUID]:
        """Yield the updated documents whose tags differ from the loaded tags."""
        for row in self._staged("updated"):
            if not self.scope.has_tags(row["id"], row["transaction_tags"]):
                yield row["id"]

    def _posted_with_tags(self) -> Iterator[UUID]:
        """Yield the documents of staged lines, unless they are known to have no tags."""
        inserted = self.scope.staging.inserted
        if "journal_line" not in inserted:
            return
        tags = {
            row["id"]: row["transaction_tags"]
            for row in (*self._staged("inserted"), *self._staged("updated"))
        }
        plain = {
            row["source_id"]
            for row in inserted["journal_entry"]
            if row["source_type"] in _NEVER_TAGGED
        }
        for line in inserted["journal_line"]:
            document = line["document_id"]
            if line["tags"] or (document not in plain and tags.get(document, True)):
                yield document

    def _staged(self, kind: str) -> Iterator[Row]:
        staged: dict[str, list[Row]] = getattr(self.scope.staging, kind)
        for table in TAGGED:
            yield from staged.get(table.name, [])
