"""match_bank_transaction within a business's tolerance: the difference is posted."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import (
    BOOKED,
    PAYMENT,
    PAYOUT,
    Bank,
    left,
    matching,
)
from tests.builders.payouts import by_card, paid_out
from tests.builders.sales import paid, part, sent
from tests.builders.trade import Record
from tests.partner import Business

PAYMENTS = "invoices/payments/"


def tolerate(shop: Business, cents: int) -> None:
    path = f"/v1/platform/businesses/{shop.id}/"
    answer = shop.partner.api.patch(path, json={"matching_tolerance_cents": cents})
    assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module", autouse=True)
def tolerant(shop: Business) -> Iterator[None]:
    """Set the tolerance of the business to five cents."""
    tolerate(shop, 5)
    yield
    tolerate(shop, 0)


def rounding(line: Record) -> tuple[int, list[int]]:
    name = "rounding_difference_cents"
    return line[name], [link[name] for link in line["links"]]


class TestMatchBankTransaction:
    @pytest.mark.parametrize("more", [-5, -1, 3, 5])
    def test_a_difference_within_the_tolerance_is_posted_as_rounding(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank, more: int
    ) -> None:
        payment, line = paid(shop, buyer, 1_000), bank.line(1_000 + more)
        with ledger.moving() as moved:
            matched = bank.match(line, PAYMENT, payment)
        assert moved == {"1100": -1_000, bank.code: 1_000 + more, "6400": -more}
        assert ledger.postings(line) == [(BOOKED, {bank.code: more, "6400": -more})]
        assert left(matched) == (1_000 + more, 0, 0)
        assert (matched["is_reconciled"], rounding(matched)) == (True, (more, [more]))
        [link] = matched["links"]
        assert link["amount_cents"] == 1_000
        shown = shop.api.get(f"{PAYMENTS}{payment['id']}/").json()
        [seen] = shown["reconciled_bank_transactions"]
        assert seen["reconciled_amount_cents"] == 1_000
        assert bank.read(line) == matched

    def test_a_payment_on_its_way_completes(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000), status="pending")
        bank.match(bank.line(998), PAYMENT, payment)
        assert shop.api.get(f"{PAYMENTS}{payment['id']}/").json()["status"] == "completed"
        assert shop.api.get(f"invoices/{invoice['id']}/").json()["status"] == "paid"

    def test_a_payout_is_reconciled(self, shop: Business, buyer: Record, bank: Bank) -> None:
        payout = paid_out(shop, 500, by_card(shop, buyer, 500))
        bank.match(bank.line(499), PAYOUT, payout)
        shown = shop.api.get(f"payouts/{payout['id']}/").json()
        assert shown["reconciliation_status"] == "fully_reconciled"

    def test_a_rest_of_a_line_is_matched_with_tolerance(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        first, second = paid(shop, buyer, 600), paid(shop, buyer, 403)
        line = bank.line(1_000)
        bank.match(line, PAYMENT, first)
        matched = bank.match(line, PAYMENT, second)
        assert (left(matched), rounding(matched)) == ((1_000, 0, 0), (-3, [0, -3]))

    @pytest.mark.parametrize(("amount", "linked"), [(994, 994), (1_006, 1_000)])
    def test_beyond_the_tolerance_no_more_is_linked_than_there_is(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank, amount: int, linked: int
    ) -> None:
        line = bank.line(amount)
        matched = bank.match(line, PAYMENT, paid(shop, buyer, 1_000))
        assert (left(matched), rounding(matched)) == ((linked, 0, amount - linked), (0, [0]))
        assert ledger.postings(line) == []

    def test_an_amount_is_meant_to_the_unit(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        line = bank.line(1_002)
        matched = bank.match(line, PAYMENT, paid(shop, buyer, 1_000), 1_000)
        assert (left(matched), rounding(matched)) == ((1_000, 0, 2), (0, [0]))
        short = matching(PAYMENT, paid(shop, buyer, 1_000), 1_000)
        assert bank.refused(bank.line(998), "match", short) == (422, "link_exceeds_remaining")

    def test_in_a_locked_period_it_is_posted_after_it(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 1_000), bank.line(999)
        with ledger.locked("2025-03-31"):
            bank.match(line, PAYMENT, payment)
        assert ledger.postings(line) == [("2025-04-01", {bank.code: -1, "6400": 1})]


class TestUnmatchBankTransaction:
    def test_an_undone_link_reverses_the_rounding_difference(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 1_000), bank.line(999)
        with ledger.moving() as moved:
            bank.match(line, PAYMENT, payment)
            unmatched = bank.unmatch(line)
        assert moved == {}
        assert (left(unmatched), rounding(unmatched)) == ((0, 0, 999), (0, []))
        first, mirror = ledger.entries(line)
        assert (mirror.on, mirror.reversal_of) == (BOOKED, first.id)
        # Then the line can be categorized.
        bank.categorize(line, "4500")
        assert ledger.postings(line)[2:] == [(BOOKED, {bank.code: 999, "4500": -999})]

    def test_other_links_and_categories_of_a_line_stay(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line = bank.line(1_500)
        bank.match(line, PAYMENT, paid(shop, buyer, 500))
        bank.match(line, PAYMENT, paid(shop, buyer, 1_002))
        bank.unmatch(line, 0)
        categorized = bank.categorize(line, "4500")
        assert left(categorized) == (1_000, 500, 0)
        after = bank.unmatch(line, 0)
        assert (left(after), rounding(after)) == ((0, 500, 1_000), (0, []))
        bank.uncategorize(line)
        total = Counter[str]()
        for _, moves in ledger.postings(line):
            total.update(moves)
        assert not any(total.values())


class TestUpdateInvoicePayment:
    def test_money_that_bounces_keeps_the_difference_until_its_line_comes(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 1_500)
        exact, short = bank.line(500), bank.line(998)
        for line in (exact, short):
            bank.match(line, PAYMENT, payment)
        answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "failed"})
        assert answer.status_code == 200, answer.text
        assert len(answer.json()["payment"]["reconciled_bank_transactions"]) == 2
        [posted] = ledger.entries(short)
        assert posted.amounts == {"6400": 2, bank.code: -2}
        # The bank sends back what came.
        back = bank.match_return(bank.line(-1_498), PAYMENT, payment)
        assert (left(back), rounding(back)) == ((1_498, 0, 0), (-2, [-2]))
        [posted] = ledger.entries(back)
        assert posted.amounts == {"6400": -2, bank.code: 2}


class TestUpdateBusiness:
    def test_without_a_tolerance_nothing_is_rounded(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        tolerate(shop, 0)
        matched = bank.match(bank.line(999), PAYMENT, paid(shop, buyer, 1_000))
        tolerate(shop, 5)
        assert (left(matched), rounding(matched)) == ((999, 0, 0), (0, [0]))
