"""Bank lines that have no document here: posted straight to an account, and taken back."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import BOOKED, PAYMENT, Bank, left, matching, open_account
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"


@pytest.fixture(scope="module")
def bank(shop: Business) -> Bank:
    open_account(shop, display_name="Current account")
    return Bank(shop, open_account(shop))


class TestCategorizeBankTransaction:
    def test_an_outgoing_line_is_posted_on_its_day(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(-12, counterparty_name="First Quay Bank", reference="Charges March")
        done = bank.categorize(line, "6300", memo="As every month")
        assert (left(done), done["is_reconciled"]) == ((0, 12, 0), True)
        category = done["category"]
        assert (category["account"]["code"], category["account"]["name"]) == (
            "6300",
            "Bank charges",
        )
        assert (category["amount_cents"], category["memo"]) == (12, "As every month")
        assert bank.read(line) == done
        [entry] = ledger.entries(line)
        assert (entry.on, entry.source_type) == (BOOKED, "bank_transaction")
        assert entry.lines == (("6300", 12), (bank.code, -12))
        assert entry.description == "Bank transaction First Quay Bank"
        shown = shop.api.get(f"general-ledger/journal-entries/{entry.id}/").json()
        assert shown["bank_transaction_id"] == line["id"]
        assert shown["source_reference"] == "Charges March"

    def test_an_incoming_line_is_posted_with_opposite_signs(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        account = shop.api.get(f"{CHART}4600/").json()
        line = bank.line(34)
        with ledger.moving() as moved:
            bank.categorize(line, account["id"])
        assert moved == {"4600": -34, bank.code: 34}

    def test_a_category_takes_the_rest_beside_links(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line = bank.line(100)
        bank.match(line, PAYMENT, paid(shop, buyer, 60))
        with ledger.moving() as moved:
            assert left(bank.categorize(line, "4500")) == (60, 40, 0)
        assert moved == {"4500": -40, bank.code: 40}
        body = matching(PAYMENT, paid_before(shop))
        with ledger.untouched():
            assert bank.refused(line, "match", body) == (422, "link_exceeds_remaining")
        # What a link gives back is not categorized by that, and can be linked again.
        assert left(bank.unmatch(line)) == (0, 40, 60)
        with ledger.untouched():
            assert bank.refused(line, "categorize", {"account": "4500"}) == (
                409,
                "bank_transaction_used_up",
            )
        assert left(bank.match(line, PAYMENT, paid_before(shop))) == (60, 40, 0)

    def test_refusals_change_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line, used, linked = bank.line(50), bank.line(51), bank.line(52)
        bank.categorize(used, "4500")
        bank.match(linked, PAYMENT, paid(shop, buyer, 52))
        facts = {"account_type": "expense", "account_subtype": "operating_expenses"}
        shop.made(CHART, {"code": "6910", "name": "Gone", **facts})
        shop.api.delete(f"{CHART}6910/")
        expected = (
            (line, "nothing like it", 422, "reference_not_found"),
            (line, "1200", 422, "control_account"),
            (line, bank.code, 422, "same_account"),
            (line, "6910", 409, "account_archived"),
            (used, "6300", 409, "bank_transaction_used_up"),
            (linked, "6300", 409, "bank_transaction_used_up"),
        )
        with ledger.untouched():
            for asked, account, status, code in expected:
                said = bank.refused(asked, "categorize", {"account": account})
                assert said == (status, code), account

    def test_nothing_is_posted_inside_the_lock(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(-12)
        with ledger.locked(BOOKED), ledger.untouched():
            said = bank.refused(line, "categorize", {"account": "6300"})
        assert said == (409, "period_locked")

    def test_a_preview_keeps_nothing(self, shop: Business, ledger: Ledger, bank: Bank) -> None:
        line = bank.line(-12)
        with ledger.untouched():
            answer = bank.ask(line, "categorize", {"account": "6300"}, params={"preview": True})
        assert left(answer.json()) == (0, 12, 0)
        assert len(answer.json()["journal_entries"]) == 1

    def test_the_account_of_another_business_is_not_there(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        other = shop.partner.business()
        theirs = other.api.get(f"{CHART}6300/").json()["id"]
        line = bank.line(-12)
        with ledger.untouched():
            said = bank.refused(line, "categorize", {"account": theirs})
        assert said == (422, "reference_not_found")


class TestUncategorizeBankTransaction:
    def test_an_uncategorized_line_reverses_its_posting(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(-12)
        bank.categorize(line, "6300")
        with ledger.moving() as moved:
            free = bank.uncategorize(line)
        assert (left(free), free["category"]) == ((0, 0, 12), None)
        assert moved == {"6300": -12, bank.code: 12}
        posted, back = ledger.entries(line)
        assert (back.reversal_of, back.on) == (posted.id, BOOKED)
        bank.categorize(line, "6000")
        assert ledger.entries(line)[-1].amounts == {"6000": 12, bank.code: -12}

    def test_inside_the_lock_it_is_taken_back_on_the_day_after(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(-12)
        bank.categorize(line, "6300")
        with ledger.locked("2025-03-31"):
            bank.uncategorize(line)
        assert ledger.entries(line)[-1].on == "2025-04-01"

    def test_a_line_that_is_not_categorized_stays_as_it_is(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(-12)
        with ledger.untouched():
            assert bank.uncategorize(line) == line

    def test_a_preview_keeps_nothing(self, shop: Business, ledger: Ledger, bank: Bank) -> None:
        line = bank.line(-12)
        bank.categorize(line, "6300")
        with ledger.untouched():
            answer = bank.ask(line, "uncategorize", params={"preview": True})
        assert answer.json()["category"] is None
        assert len(answer.json()["journal_entries"]) == 1


def paid_before(shop: Business) -> Record:
    """A payment of 60 of a customer of its own."""
    return paid(shop, shop.customer(), 60)
