"""Bank lines that are categorized to an account, and uncategorized."""

from tests.bookkeeping import Ledger
from tests.builders.bank import BOOKED, PAYMENT, Bank, left, matching
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"


class TestCategorizeBankTransaction:
    def test_an_outgoing_line_is_posted_on_its_day(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(-12, counterparty_name="First Quay Bank", reference="Charges March")
        done = bank.categorize(line, "6300", memo="As every month")
        assert (left(done), done["is_reconciled"]) == ((0, 12, 0), True)
        category, account = done["category"], done["category"]["account"]
        assert (account["code"], account["name"]) == ("6300", "Bank charges")
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
        # The unmatched amount is not categorized, and can be linked again.
        assert left(bank.unmatch(line)) == (0, 40, 60)
        with ledger.untouched():
            refused = bank.refused(line, "categorize", {"account": "4500"})
            assert refused == (409, "bank_transaction_used_up")
        assert left(bank.match(line, PAYMENT, paid_before(shop))) == (60, 40, 0)

    def test_refusals_change_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line, used, linked = bank.line(50), bank.line(51), bank.line(52)
        bank.categorize(used, "4500")
        bank.match(linked, PAYMENT, paid(shop, buyer, 52))
        shop.api.delete(f"{CHART}1500/")
        with ledger.untouched():
            for asked, account, refusal in (
                (line, "nothing like it", (422, "reference_not_found")),
                (line, "1200", (422, "control_account")),
                (line, bank.code, (422, "same_account")),
                (line, "1500", (409, "account_archived")),
                (used, "6300", (409, "bank_transaction_used_up")),
                (linked, "6300", (409, "bank_transaction_used_up")),
            ):
                refused = bank.refused(asked, "categorize", {"account": account})
                assert refused == refusal, account


class TestUncategorizeBankTransaction:
    def test_an_uncategorized_line_reverses_its_posting(self, ledger: Ledger, bank: Bank) -> None:
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

    def test_a_line_that_is_not_categorized_stays_as_it_is(
        self, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(-12)
        with ledger.untouched():
            assert bank.uncategorize(line) == line


def paid_before(shop: Business) -> Record:
    """Create a payment of 60 from a new customer."""
    return paid(shop, shop.customer(), 60)
