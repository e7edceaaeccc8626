"""A line and its money that differ by a little: the link, the posting and its reversal."""

from dataclasses import replace
from uuid import UUID

import pytest

from accounting.bank import bank_links, bank_postings
from accounting.bank.bank_links import Link, rest
from accounting.bank.bank_transactions import BankTransaction, remaining
from accounting.bank.commands import LinkTransaction
from accounting.books.businesses import Context, refuse_large_tolerance
from accounting.errors import ValidationError
from accounting.trade.payments import Payment
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.bank.statements import line
from tests.accounting.samples import ROLES, amounts, context_of, posted_after, refused
from tests.accounting.trade.business import Trade
from tests.accounting.trade.purchases import Purchases

Linked = tuple[BankTransaction, Payment, Link]


def tolerant(cents: int) -> Context:
    context = context_of("20")
    return replace(context, business=replace(context.business, matching_tolerance=cents))


def link(
    side: Side,
    transaction: BankTransaction,
    payment: Payment,
    *,
    tolerance: int = 5,
    amount: int | None = None,
) -> Linked:
    command = LinkTransaction(target_type="any", target_id=payment.id, amount=amount)
    return bank_links.link(side, transaction, payment, command, tolerant(tolerance))


def payment_of(trade: Trade, total: int) -> Payment:
    return trade.payments[trade.pay(total)]


class TestLink:
    @pytest.mark.parametrize("more", [-5, -1, 1, 5])
    def test_uses_both_up_and_the_line_is_rounded(self, more: int) -> None:
        used, held, made = link(RECEIVABLE, line(100 + more), payment_of(Trade(), 100))
        assert (made.amount, made.rounding) == (100, more)
        assert (used.linked, used.rounding, remaining(used)) == (100 + more, more, 0)
        assert (held.linked, rest(RECEIVABLE, held)) == (100, 0)

    @pytest.mark.parametrize(
        ("more", "tolerance", "linked"), [(-6, 5, 94), (6, 5, 100), (0, 5, 100), (-1, 0, 99)]
    )
    def test_a_difference_beyond_the_tolerance_is_not_rounded(
        self, more: int, tolerance: int, linked: int
    ) -> None:
        payment = payment_of(Trade(), 100)
        used, _, made = link(RECEIVABLE, line(100 + more), payment, tolerance=tolerance)
        assert (made.amount, made.rounding, used.rounding) == (linked, 0, 0)

    def test_a_given_amount_is_meant_to_the_unit(self) -> None:
        _, _, made = link(RECEIVABLE, line(101), payment_of(Trade(), 100), amount=100)
        assert (made.amount, made.rounding) == (100, 0)
        payment = payment_of(Trade(), 100)
        refusal = refused(link, RECEIVABLE, line(99), payment, amount=100)
        assert refusal.code == "link_exceeds_remaining"

    @pytest.mark.parametrize(("amount", "total"), [(100, 3), (3, 100)])
    def test_a_used_up_line_takes_no_difference(self, amount: int, total: int) -> None:
        """Refuse the link: the line is used up and 3 of the payment remain."""
        transaction = replace(line(amount), linked=amount)
        refusal = refused(link, RECEIVABLE, transaction, payment_of(Trade(), total))
        assert refusal.code == "link_exceeds_remaining"

    def test_unlinking_takes_the_rounding_along(self) -> None:
        used, held, made = link(RECEIVABLE, line(99), payment_of(Trade(), 100))
        unused, freed, ended = bank_links.unlink(used, held, made, tolerant(5))
        assert (unused.linked, unused.rounding, remaining(unused)) == (0, 0, 99)
        assert (freed.linked, freed.money_account_id) == (0, None)
        assert ended.ended_at is not None


class TestPostings:
    @pytest.mark.parametrize(
        ("side", "moved", "more", "posted"),
        [
            (RECEIVABLE, 1, -2, {"6400": 2, "1110": -2}),
            (RECEIVABLE, 1, 2, {"1110": 2, "6400": -2}),
            (PAYABLE, -1, -2, {"1110": 2, "6400": -2}),
            (PAYABLE, -1, 2, {"6400": 2, "1110": -2}),
        ],
    )
    def test_the_bank_holds_what_its_line_says(
        self, side: Side, moved: int, more: int, posted: dict[str, int]
    ) -> None:
        trade = Trade() if side is RECEIVABLE else Purchases()
        used, _, _ = link(side, line(moved * (100 + more)), payment_of(trade, 100))
        [entry] = bank_postings.entries_for(used, ROLES, None)
        assert amounts(entry) == posted
        assert entry.description == "Rounding difference of bank transaction"
        assert entry.entry_date == used.booked_on

    def test_taken_back_it_is_mirrored(self) -> None:
        used, held, made = link(RECEIVABLE, line(99), payment_of(Trade(), 100))
        entries = bank_postings.entries_for(used, ROLES, None)
        standing = posted_after((), entries, lambda: UUID(int=77))
        unused, _, _ = bank_links.unlink(used, held, made, tolerant(5))
        [mirror] = bank_postings.entries_for(replace(unused, posted=standing), ROLES, None)
        assert mirror.reversal_of_id == standing[0].id
        assert amounts(mirror) == {"1110": 1, "6400": -1}


class TestRefuseLargeTolerance:
    @pytest.mark.parametrize(("most", "exponent"), [(500, 2), (5, 0)])
    def test_a_tolerance_above_five_units_is_refused(self, most: int, exponent: int) -> None:
        refuse_large_tolerance(most, "GBP", exponent)
        refusal = refused(refuse_large_tolerance, most + 1, "GBP", exponent)
        assert isinstance(refusal, ValidationError)
        told = {"matching_tolerance_cents": [f"must be at most {most} in GBP"]}
        assert refusal.detail["field_errors"] == told
