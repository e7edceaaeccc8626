"""Open items of customers and vendors, for both sides: agings, statements, counts."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from accounting.trade import documents
from accounting.trade.aging import BUCKETS, AgedBalance, AgedParty, aged, in_total
from accounting.trade.parties import Customer, party_of
from accounting.trade.party_statements import PartyStatement, StatementLine, days_of
from handlers.results import AnswerFormat, Csv, Pdf, Reply
from handlers.shared.responses import serialize_party
from handlers.trade import statement_printables
from handlers.trade.document_responses import names_of
from persistence.books import Trade
from persistence.trade.owed import OpenSummary

# Two names for the same number, for clients that use either.
_ALSO = {"days_1_30": "1_30_days", "days_31_60": "31_60_days", "days_61_90": "61_90_days"}


async def age(trade: Trade, query: Mapping[str, Any], answer_format: AnswerFormat) -> Reply | Csv:
    """Return the outstanding amounts at the end of a day by bucket, by party or in total."""
    books, side = trade.books, trade.side
    await books.learn_facts()
    as_of = query.get("as_of_date", books.context.today)
    group_by = query["group_by"]
    found = aged(await trade.owed.aging(as_of, await books.roles()))
    total = in_total(found)
    party = names_of(side).party
    shown = [] if group_by == "total" else found
    if answer_format is AnswerFormat.CSV:
        header = (
            *("row", side.names.party_id, f"{party}_name", *(f"{name}_cents" for name in BUCKETS)),
            *("total_outstanding_cents", "unapplied_cents"),
        )
        rows = [("line", each.party_id, each.party_name, *_cells(each)) for each in shown]
        rows.append(("total", None, None, *_cells(total)))
        return Csv(f"{party}-aging-{as_of}.csv", header, rows)
    address = f"/v1/platform/businesses/{books.business_id}/{side.words.document}s/"

    def row(each: AgedParty) -> dict[str, Any]:
        asked = {side.names.party_id: each.party_id, "open_on": as_of}
        return {
            side.names.party_id: each.party_id,
            f"{party}_name": each.party_name,
            "total_outstanding_cents": each.total,
            "aging_buckets": _buckets(each),
            "unapplied_cents": each.unapplied,
            "explain": f"{address}?{urlencode(asked)}",
        }

    return {
        "currency": books.currency,
        "basis": "accrual",
        "as_of_date": as_of,
        "group_by": group_by,
        "total_outstanding_cents": total.total,
        "total_aging_buckets": _buckets(total),
        "unapplied_cents": total.unapplied,
        f"{party}s": [row(each) for each in shown],
    }


def _buckets(amounts: AgedBalance) -> dict[str, int]:
    shown = dict(zip(BUCKETS, amounts.buckets, strict=True))
    return {**shown, **{_ALSO[name]: shown[name] for name in _ALSO}}


def _cells(amounts: AgedBalance) -> tuple[int, ...]:
    return (*amounts.buckets, amounts.total, amounts.unapplied)


async def state(
    trade: Trade, party_id: UUID, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv | Pdf:
    """Return the statement of one customer or vendor for a period; raises NotFound."""
    books, side, party = trade.books, trade.side, names_of(trade.side).party
    books.pin_snapshot()
    if "end_date" not in query:
        await books.learn_facts()
    first, last = query.get("start_date"), query.get("end_date") or books.context.today
    days = days_of(first, last)
    roles = await books.roles()
    account, found = await books.fetch(
        trade.parties.get(party_id), trade.owed.statement(party_id, days, roles)
    )
    name = "-".join(map(str, [f"{party}-statement", *([first] if first else []), last]))
    if answer_format is AnswerFormat.PDF and isinstance(account.trader, Customer):
        return await statement_printables.paper_of(
            books, account.trader, (first, last), found, f"{name}.pdf"
        )
    if answer_format is AnswerFormat.CSV:
        return Csv(f"{name}.csv", _columns(trade), _rows(trade, found))
    return {
        "currency": books.currency,
        "basis": "accrual",
        "start_date": first,
        "end_date": last,
        side.names.party_id: party_id,
        party: serialize_party(party_of(account.trader)),
        "opening_balance_cents": found.opening,
        "closing_balance_cents": found.closing,
        "unapplied_cents": found.unapplied,
        "lines": [_line(trade, line, owed) for line, owed in found.lines],
    }


def _line(trade: Trade, line: StatementLine, owed: int) -> dict[str, Any]:
    names = trade.side.names
    return {
        "entry_date": line.entry_date,
        "journal_entry_id": line.entry_id,
        "sequence_number": line.sequence_number,
        "source_type": line.source_type,
        "source_id": line.source_id,
        "reference": line.reference,
        "description": line.description,
        names.document_id: line.document_id,
        names.number: line.document_number,
        "amount_cents": line.amount,
        "balance_cents": owed,
    }


def _columns(trade: Trade) -> tuple[str, ...]:
    return (
        *("row", "entry_date", "sequence_number", "source_type", "reference", "description"),
        *(trade.side.names.number, "amount_cents", "balance_cents"),
    )


def _rows(trade: Trade, found: PartyStatement) -> Iterator[tuple[Any, ...]]:
    nothing = (None,) * (len(_columns(trade)) - 2)
    yield ("opening", *nothing, found.opening)
    for line, owed in found.lines:
        told = (line.source_type, line.reference, line.description, line.document_number)
        yield ("line", line.entry_date, line.sequence_number, *told, line.amount, owed)
    yield ("closing", *nothing, found.closing)
    yield ("unapplied", *nothing, found.unapplied)


async def standing(trade: Trade) -> OpenSummary:
    """Count documents and credits by status, in one snapshot."""
    trade.books.pin_snapshot()
    return await trade.owed.standing()


def count_documents(trade: Trade, found: OpenSummary) -> dict[str, int]:
    """Return the number of documents, of unpaid and of paid ones, and the outstanding amount."""
    unpaid = documents.owing_statuses(trade.side)
    return {
        "all": sum(found.documents.values()),
        "unpaid": sum(found.documents.get(status, 0) for status in unpaid),
        "paid": found.documents.get("paid", 0),
        "outstanding_cents": found.outstanding,
    }


def count_credits(found: OpenSummary, **statuses: Collection[str]) -> dict[str, int]:
    """Return the number of all credits, and of those with given statuses."""
    counts = {
        name: sum(found.credits.get(status, 0) for status in each)
        for name, each in statuses.items()
    }
    return {"all": sum(found.credits.values()), **counts}
