"""Match candidates for a bank line: open payments and payouts near it, found by index.

All are in the currency of the line. Of each kind only a few rows are read: those of exactly the
amount, those of nearby days, and the row that the line's reference names.
`accounting.bank.match_suggestions` ranks them.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Date,
    Integer,
    Table,
    Text,
    Uuid,
    and_,
    case,
    cast,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
    union_all,
)
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.bank_transactions import BankTransaction, remaining
from accounting.bank.match_suggestions import OpenItem
from accounting.books.manual_entries import SOURCE
from accounting.books.time_zones import day_of, start_of, stored_day
from accounting.trade.payments import LIVE
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.scope import Scope
from persistence.store import MINE, in_business
from persistence.tables import EVER_RETURNED, Moment, payout
from persistence.trade import payables, receivables
from persistence.trade.party_columns import on_party, party_name
from persistence.trade.payments import PaymentSql
from persistence.trade.refund_sql import RefundPaymentSql

# More match candidates for a bank line: manual entries, and the other side of a transfer.


MOST_LINES: Final = 15
NEAREST: Final = 1_000  # Manual entries that are searched, nearest to the day of the line.

# Manual entries whose unlinked amount on the line's ledger account, in the currency of the line,
# equals the line's remaining amount. Their day is near that of the line, or the line's reference is
# their number.
_ENTRIES = f"""
SELECT 'journal_entry' AS target_type, journal_entry.id AS target_id,
       %(amount)s::bigint AS amount, journal_entry.entry_date AS "on", NULL::text AS party_name,
       array_remove(
         ARRAY[journal_entry.sequence_number, journal_entry.reference], NULL
       ) AS references
FROM (
  (SELECT journal_entry.id FROM journal_entry
   WHERE journal_entry.business_id = %(business_id)s AND journal_entry.source_type = '{SOURCE}'
     AND journal_entry.entry_date BETWEEN %(day_same_first)s AND %(day_same_last)s
   ORDER BY abs(journal_entry.entry_date - %(day_of)s), journal_entry.id LIMIT {NEAREST})
  UNION
  SELECT journal_entry.id FROM journal_entry
  WHERE journal_entry.business_id = %(business_id)s
    AND journal_entry.sequence_number = %(reference)s
) AS near
JOIN journal_entry
  ON journal_entry.business_id = %(business_id)s AND journal_entry.id = near.id
CROSS JOIN LATERAL (
  SELECT sum(
    CASE WHEN %(foreign)s THEN journal_line.currency_amount
      ELSE journal_line.debit - journal_line.credit END
  ) AS amount FROM journal_line
  WHERE journal_line.business_id = %(business_id)s
    AND journal_line.entry_id = journal_entry.id AND journal_line.account_id = %(account_id)s
) AS moved
CROSS JOIN LATERAL (
  SELECT coalesce(sum(bank_link.amount), 0) AS amount FROM bank_link
  JOIN bank_transaction ON bank_transaction.business_id = %(business_id)s
    AND bank_transaction.id = bank_link.transaction_id
  WHERE bank_link.business_id = %(business_id)s
    AND bank_link.target_id = journal_entry.id AND bank_link.ended_at IS NULL
    AND bank_transaction.bank_account_id = %(bank_account_id)s
) AS shown
WHERE journal_entry.source_type = '{SOURCE}'
  AND {{sign}} * moved.amount - shown.amount = %(amount)s
LIMIT {MOST_LINES}"""

# Bank lines of other accounts in the opposite direction, with the same remaining amount of the
# same currency.
_LINES = f"""
SELECT 'transfer' AS target_type, found.id AS target_id, found.remaining AS amount,
       found.booked_on AS "on", bank_account.display_name AS party_name,
       array_remove(ARRAY[found.reference], NULL) AS references
FROM (
  SELECT * FROM bank_transaction
  WHERE bank_transaction.business_id = %(business_id)s
    AND remaining = %(amount)s AND remaining > 0 AND currency = %(currency)s
    AND booked_on BETWEEN %(day_same_first)s AND %(day_same_last)s
    AND direction = '{{other}}' AND bank_account_id <> %(bank_account_id)s
  ORDER BY abs(booked_on - %(day_of)s), id LIMIT {MOST_LINES}
) AS found
JOIN bank_account
  ON bank_account.business_id = %(business_id)s AND bank_account.id = found.bank_account_id"""

# Open transfers without a line of this account yet. Each is represented by its first line.
_WAITING = f"""
SELECT 'transfer' AS target_type, bank_transaction.id AS target_id, waiting.amount,
       bank_transaction.booked_on AS "on", bank_account.display_name AS party_name,
       array_remove(ARRAY[bank_transaction.reference], NULL) AS references
FROM (
  SELECT * FROM bank_transfer
  WHERE bank_transfer.business_id = %(business_id)s AND {{here}} = %(account_id)s
    AND {{missing}} IS NULL AND ended_at IS NULL AND amount <= %(amount)s
  ORDER BY abs(moved_on - %(day_of)s), id LIMIT {MOST_LINES}
) AS waiting
JOIN bank_transaction ON bank_transaction.business_id = %(business_id)s
  AND bank_transaction.id = waiting.{{there}}
JOIN bank_account ON bank_account.business_id = %(business_id)s
  AND bank_account.id = bank_transaction.bank_account_id"""

LINES_COMING_IN: Final = (
    _ENTRIES.format(sign="1"),
    _LINES.format(other="debit"),
    _WAITING.format(here="to_account_id", missing="in_transaction_id", there="out_transaction_id"),
)
LINES_GOING_OUT: Final = (
    _ENTRIES.format(sign="-1"),
    _LINES.format(other="credit"),
    _WAITING.format(
        here="from_account_id", missing="out_transaction_id", there="in_transaction_id"
    ),
)


SAME_DAYS, NEAR_DAYS = 90, 30
"""The maximum distance in days of candidates with the same amount, and with another amount."""
MOST: ColumnElement[int] = literal_column("15")  # Rows that one probe returns.
_ZERO: ColumnElement[int] = literal_column("0")
_MOST_RETURNED: ColumnElement[int] = literal_column(str(NEAREST))
_RETURNED: ColumnElement[bool] = literal_column(f"({EVER_RETURNED})", Boolean)
_LIVE = tuple(word(each) for each in sorted(LIVE))
_LESS: ColumnElement[int] = literal_column("-1")
_MORE: ColumnElement[int] = literal_column("1")


class _Probes:
    """Selects of the rows of a table that may match a bank line; each probe scans one index.

    Money that ever came back is not among them: see `_returned`.
    """

    def __init__(self, table: Table, *own: ColumnElement[bool]) -> None:
        self.table = table
        self.scope = and_(in_business(table), _here(table), _alike(table), *own)
        self.same = table.c.unlinked == given("amount", BigInteger)
        self.open = table.c.unlinked.is_not(None)

    def around(self, day: ColumnElement[Any], which: ColumnElement[bool], window: str) -> list[Any]:
        """Build the selects of the rows nearest to the line's day, before and after it."""
        # Payments have a date, payouts a moment; the parameters have the same type.
        kind, name = (Date, "day") if isinstance(day.type, Date) else (Moment, "moment")
        here, first, last = (
            given(f"{name}_{end}", kind) for end in ("of", f"{window}_first", f"{window}_last")
        )
        rows = select(self.table.c.id).where(self.scope, which)
        return [
            _few(rows.where(day <= here, day >= first).order_by(day.desc())),
            _few(rows.where(day > here, day <= last).order_by(day)),
        ]

    def alike(self, *order: ColumnElement[Any]) -> Any:
        """Build the select of rows with exactly the amount, of any day, the first in an order."""
        return _few(select(self.table.c.id).where(self.scope, self.same).order_by(*order))

    def named(self) -> Any:
        """Build the select of the open row whose external id is the line's reference."""
        known = self.table.c.external_id == given("reference", Text)
        return select(self.table.c.id).where(self.scope, self.open, known)

    def among(self, *probes: Any) -> ColumnElement[bool]:
        """Return the condition that one of the probes finds a row."""
        return self.table.c.id.in_(union_all(*probes))


def _here(table: Table) -> ColumnElement[bool]:
    """Return the condition that money is on no bank account yet, or on that of the line."""
    account = table.c.money_account_id
    return or_(account.is_(None), account == given("account_id", Uuid))


def _alike(table: Table) -> ColumnElement[bool]:
    """Return the condition that money is in the currency of the line."""
    return table.c.currency == given("currency", Text)


def _returned(
    table: Table, fee: ColumnElement[int], *, back: bool
) -> tuple[ColumnElement[int], ColumnElement[bool]]:
    """Return the open amount of money that ever came back, and the condition of fitting rows.

    The amount is that of a movement or, with `back`, of a return; `fee` is the sign of the fee in
    it. Such rows are few, so no index has the amount.
    """
    row = table.c
    moves = (row.total if "total" in row else row.amount) + fee * row.fee
    returned = func.times_returned(row.completions, type_=BigInteger)
    live = cast(row.status.in_(_LIVE), Integer)
    linked, times = (row.linked_back, returned) if back else (row.linked, returned + live)
    amount = case((moves * times > linked, moves - func.mod(linked, moves)))
    recent = (
        select(row.id, row.external_id, amount.label("amount"))
        .where(in_business(table), _RETURNED, row.payout_id.is_(None), _here(table), _alike(table))
        .order_by(row.updated_at.desc())
        .limit(_MOST_RETURNED)
        .subquery()
    )
    same = recent.c.amount == given("amount", BigInteger)
    named = and_(recent.c.amount > _ZERO, recent.c.external_id == given("reference", Text))
    return amount, row.id.in_(_few(select(recent.c.id).where(or_(same, named))))


def _few(rows: Any) -> Any:
    return select(rows.limit(MOST).subquery().c.id)


def _shown(
    kind: str,
    table: Table,
    amount: ColumnElement[int],
    day: ColumnElement[Any],
    name: ColumnElement[Any],
    *names: Any,
) -> tuple[ColumnElement[Any], ...]:
    """Return the columns of a candidate; `names` are its reference columns."""
    known = func.array_remove(array(list(names)), None, type_=ARRAY(Text()))
    return (
        word(kind).label("target_type"),
        table.c.id.label("target_id"),
        amount.label("amount"),
        day.label("on"),
        name.label("party_name"),
        known.label("references"),
    )


def _of_payments(kind: str, sql: PaymentSql) -> str:
    # Payments from before the opening of the books are on none of their bank lines.
    row = sql.payment.c
    probes = _Probes(sql.payment, row.opening_id.is_(None), ~_RETURNED)
    found = probes.among(
        *probes.around(row.payment_date, probes.same, "same"),
        *probes.around(row.payment_date, probes.open, "near"),
        probes.named(),
    )
    return _payments(kind, sql, row.unlinked, found)


def _of_returned_payments(
    kind: str, sql: PaymentSql, fee: ColumnElement[int], *, back: bool = False
) -> str:
    return _payments(kind, sql, *_returned(sql.payment, fee, back=back), back=back)


def _payments(
    kind: str,
    sql: PaymentSql,
    amount: ColumnElement[int],
    found: ColumnElement[bool],
    *,
    back: bool = False,
) -> str:
    payment, party, row = sql.payment, sql.party, sql.payment.c
    own = (
        *(row.external_id, row.payment_reference, row.bank_reference),
        *(row.processor_reference, row.check_number),
    )
    *columns, known = _shown(kind, payment, amount, row.payment_date, party_name(party), *own)
    names = func.array_cat(known.element, _numbers(sql)).label("references")
    source = payment.join(party, on_party(payment, party))
    shown = select(*columns, names, party.c.id.label("party_id"), _back(back=back))
    return compiled(shown.select_from(source).where(in_business(payment), found))


def _back(*, back: bool) -> ColumnElement[bool]:
    return (true() if back else false()).label("back")


def _numbers(sql: PaymentSql) -> Any:
    """Build a subquery for the numbers of the documents to which a payment is allocated."""
    share, document = sql.allocations.table, sql.allocations.documents.document
    payment, row = sql.payment.c, share.c
    settled = and_(in_business(document), document.c.id == row.document_id)
    return (
        select(func.array_agg(document.c.number))
        .select_from(share.join(document, settled))
        .where(
            row.business_id == MINE,
            row.payment_id == payment.id,
            row.end_on.is_(None),
        )
        .scalar_subquery()
    )


def _of_refund_payments(kind: str, sql: RefundPaymentSql) -> str:
    row, probes = sql.payment.c, _Probes(sql.payment, ~_RETURNED)
    found = probes.among(probes.alike(row.created_at.desc()), probes.named())
    return _refund_payments(kind, sql, row.unlinked, found)


def _of_returned_refund_payments(
    kind: str, sql: RefundPaymentSql, fee: ColumnElement[int], *, back: bool = False
) -> str:
    return _refund_payments(kind, sql, *_returned(sql.payment, fee, back=back), back=back)


def _refund_payments(
    kind: str,
    sql: RefundPaymentSql,
    amount: ColumnElement[int],
    found: ColumnElement[bool],
    *,
    back: bool = False,
) -> str:
    payment, refund, row = sql.payment, sql.refund, sql.payment.c
    own = [row.external_id, refund.c.external_id, refund.c.reference_number]
    own += [row[name] for name in ("payment_reference", "processor_payment_id") if name in row]
    on = func.coalesce(row.payment_date, row.completed_on)
    shown = _shown(kind, payment, amount, on, party_name(sql.party), *own)
    party_id = sql.party.c.id.label("party_id")
    chosen = select(*shown, row.completed_at, row.created_at, party_id, _back(back=back))
    return compiled(chosen.select_from(sql.source).where(in_business(payment), found))


def _of_payouts() -> str:
    row = payout.c
    comes_in = (row.paid_out > literal_column("0")) == given("comes_in", Boolean)
    probes = _Probes(payout, comes_in)
    own = (row.external_id, row.processor_payout_id, row.reference_number)
    found = probes.among(
        probes.alike(row.id.desc()),
        *probes.around(row.listed_at, probes.open, "near"),
        probes.named(),
    )
    shown = _shown("payout", payout, row.unlinked, row.completed_on, row.processor, *own)
    chosen = select(*shown, row.completed_at, row.created_at)
    return compiled(chosen.where(in_business(payout), found))


PAYOUTS = _of_payouts()
RETURNED_IN = (
    _of_returned_payments("invoice_payment", receivables.PAYMENTS, _LESS),
    _of_returned_payments("bill_payment", payables.PAYMENTS, _MORE, back=True),
    _of_returned_refund_payments("vendor_refund_payment", payables.REFUND_PAYMENTS, _LESS),
    _of_returned_refund_payments(
        "invoice_refund_payment", receivables.REFUND_PAYMENTS, _MORE, back=True
    ),
)
RETURNED_OUT = (
    _of_returned_payments("bill_payment", payables.PAYMENTS, _MORE),
    _of_returned_payments("invoice_payment", receivables.PAYMENTS, _LESS, back=True),
    _of_returned_refund_payments("invoice_refund_payment", receivables.REFUND_PAYMENTS, _MORE),
    _of_returned_refund_payments(
        "vendor_refund_payment", payables.REFUND_PAYMENTS, _LESS, back=True
    ),
)
COMING_IN = (
    _of_payments("invoice_payment", receivables.PAYMENTS),
    _of_refund_payments("vendor_refund_payment", payables.REFUND_PAYMENTS),
    PAYOUTS,
    *RETURNED_IN,
    *LINES_COMING_IN,
)
GOING_OUT = (
    _of_payments("bill_payment", payables.PAYMENTS),
    _of_refund_payments("invoice_refund_payment", receivables.REFUND_PAYMENTS),
    PAYOUTS,
    *RETURNED_OUT,
    *LINES_GOING_OUT,
)


class OpenItems:
    """The match candidates of the bank lines of one business."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def near(self, transaction: BankTransaction) -> Fetch[list[OpenItem]]:
        """Load the match candidates of a line; an empty list if nothing of its amount remains."""
        if not remaining(transaction):
            return Fetch(self.scope.session, (), lambda _: [])
        texts = COMING_IN if transaction.direction == "credit" else GOING_OUT
        timezone = self.scope.timezone
        parameters = {
            "business_id": self.scope.business_id,
            "foreign": transaction.currency != self.scope.facts["base_currency"],
            **_parameters(transaction, timezone),
        }
        queries = tuple(Query(text, parameters) for text in texts)
        return Fetch(self.scope.session, queries, lambda rows: _candidates(rows, timezone))


def _parameters(transaction: BankTransaction, timezone: str) -> Row:
    """Return the parameters of the probes: remaining amount, days around, and reference.

    A moment is the start of its day, and that of the line's own day its end.
    """
    on = transaction.booked_on
    days = {"of": on}
    for window, far in (("same", SAME_DAYS), ("near", NEAR_DAYS)):
        days[f"{window}_first"] = on - timedelta(days=far)
        days[f"{window}_last"] = on + timedelta(days=far)
    moments = {f"moment_{name}": start_of(day, timezone) for name, day in days.items()}
    moments["moment_of"] = start_of(on + timedelta(days=1), timezone) - timedelta(microseconds=1)
    return {
        **{f"day_{name}": day for name, day in days.items()},
        **moments,
        "account_id": transaction.account_id,
        "bank_account_id": transaction.bank_account_id,
        "amount": remaining(transaction),
        "currency": transaction.currency,
        "reference": transaction.reference,
        "comes_in": transaction.direction == "credit",
    }


def _candidates(answers: Answers, timezone: str) -> list[OpenItem]:
    return [_candidate(row, timezone) for rows in answers for row in rows]


def _candidate(row: Row, timezone: str) -> OpenItem:
    """Make a candidate; money that has not moved yet has the day on which it was recorded."""
    completed_at: datetime | None = row.pop("completed_at", None)
    created_at: datetime | None = row.pop("created_at", None)
    on = row["on"] or stored_day(None, completed_at)
    if on is None and created_at is not None:
        on = day_of(created_at, timezone)
    return OpenItem(**{**row, "on": on, "references": tuple(row["references"])})
