"""Manual entries, each alone and in random histories."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books import manual_entries
from accounting.books.accounts import AccountReference
from accounting.books.businesses import Context
from accounting.books.commands import EntryLineGiven, WriteEntry
from accounting.books.manual_entries import POSTING_RULES, ManualEntry, posting_rule
from accounting.errors import ApiError
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import MarkedByHand
from tests.accounting.samples import (
    account,
    account_id,
    code_of,
    context_of,
    day,
    identifiers,
    moment,
    no_move,
    refusal_of,
    refused,
)
from tests.contract.document import document

ACCOUNTS = {
    "1150": account("1150", "processor_clearing"),
    "1200": account("1200", "accounts_receivable"),
    "2400": account("2400"),
    "5000": account("5000", archived=True),
    "6000": account("6000"),
}
OPEN = ("1150", "2400", "6000")
NAMED = {
    AccountReference(kind, value): each
    for code, each in ACCOUNTS.items()
    for kind, value in (("any", code), ("id", each.id))
}
CODES = MarkedByHand(TaxCodes(()))
new_id = identifiers()


def context(lock: str | None = None, today: str = "07-15") -> Context:
    return context_of(today, lock, new_id)


def command(*lines: tuple[str, int], **facts: Any) -> WriteEntry:
    """Create a command for an entry of signed amounts; debits are positive."""
    given = tuple(
        EntryLineGiven(AccountReference("any", code), amount)
        for code, amount in lines or (("6000", 100), ("2400", -100))
    )
    return WriteEntry(**{"entry_date": day("06-30"), "lines": given, **facts})


def write(*lines: tuple[str, int], **facts: Any) -> ManualEntry:
    return manual_entries.write(command(*lines, **facts), NAMED, CODES, context())


def posted(*lines: tuple[str, int], **facts: Any) -> ManualEntry:
    return replace(write(*lines, post=True, **facts), sequence_number="JE-2026-000001")


def amounts(entry: ManualEntry) -> list[tuple[str, int]]:
    return [(code_of(line.account_id), line.amount) for line in entry.lines]


class TestWrite:
    def test_a_draft_comes_to_its_debits(self) -> None:
        entry = write(("6000", 100), ("2400", -60), ("1150", -40))
        assert (entry.status, entry.total, entry.source_id) == ("draft", 100, entry.id)
        assert amounts(entry) == [("6000", 100), ("2400", -60), ("1150", -40)]

    def test_accounts_are_loaded_by_the_names_they_have_in_it(self) -> None:
        wanted = {AccountReference("any", "6000"), AccountReference("any", "2400")}
        assert manual_entries.account_references(command()) == wanted

    @pytest.mark.parametrize(
        ("author", "status"), [("manual", "approved"), ("ai", "draft"), ("import", "draft")]
    )
    def test_only_a_person_posts_at_once(self, author: str, status: str) -> None:
        assert write(author=author, post=True).status == status

    @pytest.mark.parametrize(
        ("lines", "code"),
        [
            ([("6000", 5), ("2400", -4)], "entry_not_balanced"),
            ([("6000", 5), ("1200", -5)], "control_account"),
            ([("6000", 5), ("5000", -5)], "account_archived"),
            ([("6000", 5), ("9999", -5)], "reference_not_found"),
            ([*[("6000", 6 * 10**13)] * 2, ("2400", -12 * 10**13)], "amount_too_large"),
        ],
    )
    def test_an_invalid_entry_is_refused(self, lines: list[tuple[str, int]], code: str) -> None:
        assert refused(write, *lines).code == code

    def test_the_sums_stand_in_the_refusal(self) -> None:
        detail = refused(write, ("6000", 5), ("2400", -4)).detail
        assert detail == {"total_debit": 5, "total_credit": 4}

    def test_a_lock_keeps_out_what_would_be_posted_and_no_draft(self) -> None:
        locked = context("06-30")
        assert manual_entries.write(command(), NAMED, CODES, locked).status == "draft"
        at_once = refused(manual_entries.write, command(post=True), NAMED, CODES, locked)
        later = refused(manual_entries.approve, write(), NAMED, CODES, locked)
        assert (at_once.code, later.code) == ("period_locked", "period_locked")


class TestDraft:
    def test_a_draft_says_something_else_and_is_the_same(self) -> None:
        draft = write(reference="R", description="Rent", author="ai")
        other = command(("1150", 7), ("6000", -7))
        after = manual_entries.rewrite(draft, other, NAMED, CODES, context(today="07-20"))
        assert (after.id, after.created_at) == (draft.id, draft.created_at)
        assert (after.created_by, after.reference) == ("ai", None)
        assert after.description == "Manual entry"
        assert amounts(after) == [("1150", 7), ("6000", -7)]

    def test_an_approval_increments_the_version(self) -> None:
        draft = replace(write(), version=3)
        entry = manual_entries.approve(draft, NAMED, CODES, context())
        assert entry == replace(draft, status="approved", version=4)

    def test_an_approval_checks_the_accounts_again(self) -> None:
        closed = replace(ACCOUNTS["2400"], archived_at=moment("07-01"))
        named = {**NAMED, AccountReference("id", account_id("2400")): closed}
        refusal = refused(manual_entries.approve, write(), named, CODES, context())
        assert refusal.code == "account_archived"

    @pytest.mark.parametrize("status", ["approved", "rejected"])
    def test_an_entry_that_is_no_draft_is_refused_any_change(self, status: str) -> None:
        entry, given = replace(write(), status=status), (NAMED, CODES, context())
        for refusal in (
            refusal_of(manual_entries.rewrite, entry, command(), *given),
            refusal_of(manual_entries.approve, entry, *given),
            refusal_of(manual_entries.reject, entry),
        ):
            assert refusal == no_move(status)


class TestReverse:
    def test_each_line_is_met_by_its_mirror(self) -> None:
        entry = posted(("6000", 100), ("6000", -30), ("2400", -70))
        mirror = manual_entries.reverse(entry, None, context())
        assert amounts(mirror) == [("6000", -100), ("6000", 30), ("2400", 70)]
        assert (mirror.reversal_of_id, mirror.source_id) == (entry.id, entry.id)
        assert not {line.id for line in mirror.lines} & {line.id for line in entry.lines}

    def test_its_lines_have_the_tags_of_the_entry(self) -> None:
        entry = posted(("6000", 100), ("2400", -100))
        first, second = entry.lines
        tagged = replace(entry, lines=(replace(first, tags=("van",)), second))
        mirror = manual_entries.reverse(tagged, None, context())
        assert [line.tags for line in mirror.lines] == [("van",), ()]

    @pytest.mark.parametrize(
        ("on", "lock", "expected"),
        [
            (None, None, "07-15"),
            ("07-01", None, "07-01"),
            ("06-01", None, "06-30"),
            (None, "07-31", "08-01"),
            ("08-05", "07-31", "08-05"),
        ],
    )
    def test_a_reversal_has_an_open_day_not_before_its_entry(
        self, on: str | None, lock: str | None, expected: str
    ) -> None:
        given = day(on) if on else None
        mirror = manual_entries.reverse(posted(), given, context(lock))
        assert mirror.entry_date == day(expected)

    @pytest.mark.parametrize(
        ("facts", "on", "code"),
        [
            ({"source_type": "invoice"}, None, "system_entry"),
            ({"status": "draft"}, None, "invalid_state_transition"),
            ({"status": "rejected"}, None, "invalid_state_transition"),
            ({"reversed_by_id": UUID(int=7)}, None, "already_reversed"),
            ({}, day("07-31"), "period_locked"),
        ],
    )
    def test_an_invalid_reversal_is_refused(self, facts: Any, on: Any, code: str) -> None:
        entry = replace(posted(), **facts)
        assert refused(manual_entries.reverse, entry, on, context("07-31")).code == code


def sums(entry: ManualEntry) -> Counter[str]:
    total: Counter[str] = Counter()
    for code, amount in amounts(entry):
        total[code] += amount
    return total


# ── Any history ────────────────────────────────────────────────────────────────────────────────


@dataclass
class Book:
    """A ledger of manual entries, and the state of each."""

    entries: dict[UUID, ManualEntry] = field(default_factory=dict)

    def keep(self, entry: ManualEntry) -> None:
        self.entries[entry.id] = entry
        if entry.reversal_of_id is not None:
            taken_back = self.entries[entry.reversal_of_id]
            self.entries[taken_back.id] = replace(taken_back, reversed_by_id=entry.id)

    def balances(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for entry in self.entries.values():
            if entry.status == "approved":
                total.update(sums(entry))
        return {code: amount for code, amount in total.items() if amount}


@st.composite
def commands(draw: st.DrawFn) -> WriteEntry:
    """Create a balanced entry of accounts that accept manual entries, on one of a few days."""
    codes = st.sampled_from(OPEN)
    some = draw(st.lists(st.tuples(codes, st.integers(-500, 500)), min_size=1, max_size=5))
    lines = [(code, amount) for code, amount in some if amount]
    rest = -sum(amount for _, amount in lines)
    lines.append((draw(codes), rest) if rest else (draw(codes), 1))
    if not rest:
        lines.append((draw(codes), -1))
    return command(
        *lines,
        entry_date=day(f"{draw(st.integers(5, 9))}-15"),
        author=draw(st.sampled_from(["manual", "ai", "import"])),
        post=draw(st.booleans()),
    )


MOVES = ("approve", "reject", "reverse", "rewrite")


def step(book: Book, entry: ManualEntry, move: str, now: Context, other: WriteEntry) -> bool:
    """Try a move; return whether it was made."""
    try:
        match move:
            case "approve":
                book.keep(manual_entries.approve(entry, NAMED, CODES, now))
            case "reject":
                book.keep(manual_entries.reject(entry))
            case "reverse":
                book.keep(manual_entries.reverse(entry, None, now))
            case "rewrite":
                book.keep(manual_entries.rewrite(entry, other, NAMED, CODES, now))
    except ApiError:
        return False
    return True


@given(st.data())
def test_any_history_sums_to_zero_and_reversals_restore_balances(data: st.DataObject) -> None:
    book, now = Book(), context("06-15")
    for _ in range(data.draw(st.integers(1, 12), "steps")):
        entries = list(book.entries.values())
        if not entries or data.draw(st.booleans(), "write"):
            with suppress(ApiError):  # Nothing is posted in a locked period.
                book.keep(manual_entries.write(data.draw(commands()), NAMED, CODES, now))
        else:
            entry = data.draw(st.sampled_from(entries), "entry")
            move = data.draw(st.sampled_from(MOVES), "move")
            other = data.draw(commands()) if move == "rewrite" else command()
            before = book.balances()
            made = step(book, entry, move, now, other)
            if not made or move in ("reject", "rewrite"):
                assert book.balances() == before
        assert sum(book.balances().values()) == 0
    for entry in list(book.entries.values()):
        if entry.status == "approved" and entry.reversed_by_id is None:
            check_taken_back(book, entry, now)


def check_taken_back(book: Book, entry: ManualEntry, now: Context) -> None:
    """Check that a reversal removes exactly the entry's amounts, and that its own adds them."""
    before = book.balances()
    mirror = manual_entries.reverse(entry, None, now)
    book.keep(mirror)
    without = Counter(before)
    without.subtract(sums(entry))
    assert book.balances() == {code: amount for code, amount in without.items() if amount}
    book.keep(manual_entries.reverse(book.entries[mirror.id], None, now))
    assert book.balances() == before


class TestPostingRule:
    @pytest.mark.parametrize(
        ("source", "stream", "reverses", "expected"),
        [
            ("invoice", "main", False, "invoice_sent"),
            ("invoice", "main", True, "invoice_sent"),
            ("payment", "main", False, "invoice_payment"),
            ("payment", "fee", False, "invoice_payment_fee"),
            ("customer_credit", "applied", False, "customer_credit_applied"),
            ("write_off", "main", False, "invoice_written_off"),
            ("write_off", "main", True, "invoice_write_off_reversed"),
            ("bill", "self_assessed", False, "self_assessed_tax"),
            ("bank_transaction", "rounding", False, "bank_rounding"),
            ("manual", "manual", True, "manual_entry"),
        ],
    )
    def test_a_posting_rule_is_named_after_its_event(
        self, source: str, stream: str, reverses: bool, expected: str
    ) -> None:
        assert posting_rule(source, stream, reverses=reverses) == expected

    def test_every_source_has_one_and_the_contract_names_all(self) -> None:
        schemas = document()["components"]["schemas"]
        for source in schemas["JournalSourceType"]["enum"]:
            assert posting_rule(source, "main") in POSTING_RULES
        assert set(schemas["PostingRule"]["enum"]) == POSTING_RULES
