"""list_account_entries on either basis, by tag and by posting time."""

from collections import Counter
from typing import Any

import pytest

from tests.accounting.trade.invariants import PROFIT_AND_LOSS
from tests.bookkeeping import Ledger
from tests.builders.journal_entries import ENTRIES
from tests.builders.reports import booked, refused
from tests.builders.sales import refund_paid, refunded
from tests.builders.trade import PURCHASES, SALES, Record, Trade, line
from tests.builders.vendor_refunds import agreed, changed, of_bill
from tests.clock import today
from tests.partner import Business, Partner

ACCOUNTS = "general-ledger/chart-of-accounts/"
MARCH = {"date_from": "2025-03-01", "date_to": "2025-03-31"}
BOTH_SIDES = pytest.mark.parametrize("trade", [SALES, PURCHASES], ids=["sales", "purchases"])
Sums = dict[str, int]


def entries(shop: Business, code: str, **query: Any) -> list[Record]:
    answer = shop.api.get(f"{ACCOUNTS}{code}/entries/", params={"page_size": 100, **query})
    assert answer.status_code == 200, answer.text
    found: list[Record] = answer.json()["results"]
    assert answer.json()["count"] == len(found)
    return found


def sums(shop: Business, **asked: Any) -> Sums:
    """Return debits less credits of the selected lines, by account."""
    chart = shop.api.get(ACCOUNTS, params={"page_size": 100}).json()["results"]
    found = {}
    used = [each for each in chart if each["debit_balance"] or each["credit_balance"]]
    for code in (each["code"] for each in used):
        lines = entries(shop, code, **asked)
        found[code] = sum(each["debit_amount"] - each["credit_amount"] for each in lines)
    return {code: amount for code, amount in found.items() if amount}


def both(shop: Business, **asked: Any) -> tuple[Sums, Sums]:
    return sums(shop, basis="accrual", **asked), sums(shop, basis="cash", **asked)


def profit(amounts: Sums) -> int:
    return -sum(amount for code, amount in amounts.items() if code in PROFIT_AND_LOSS)


MANUAL = {"1600": 60_000, "1650": -5_000, "2500": -100_000, "6000": 5_000, "1100": 90_000}
ON_CASH = {**MANUAL, "4000": -41_667, "2200": -8_333}


@pytest.fixture(scope="module")
def payment(own_shop: Business) -> Record:
    buyer = own_shop.customer()
    taxed = line(100_000, sales_taxes=[{"amount": 20_000}])
    invoice = SALES.open(own_shop, buyer, line_items=[taxed], sent_at="2025-03-03T09:00:00Z")
    booked(own_shop, "2025-03-12", "1600", "1100", 60_000)
    booked(own_shop, "2025-03-31", "6000", "1650", 5_000)
    booked(own_shop, "2025-03-20", "1100", "2500", 100_000)
    return SALES.pay(own_shop, buyer, 50_000, SALES.part(invoice, 50_000))


class TestWorkedExample:
    """An invoice half paid, a machine, its depreciation and a loan, in one month."""

    def test_each_account_in_march(self, own_shop: Business, payment: Record) -> None:
        accrual, cash = both(own_shop, **MARCH)
        assert accrual == {**MANUAL, "1200": 70_000, "4000": -100_000, "2200": -20_000}
        assert cash == ON_CASH
        assert (profit(accrual), profit(cash)) == (95_000, 36_667)
        # Profit differs by the receivable less its tax.
        assert profit(accrual) - profit(cash) == 70_000 - 11_667

    def test_each_line_on_cash_is_shown_with_its_entry(
        self, own_shop: Business, payment: Record
    ) -> None:
        [sold] = entries(own_shop, "4000", basis="cash")
        assert (sold["source_type"], sold["source_id"]) == ("payment", payment["id"])
        assert sold["entry_date"] == "2025-03-10"
        assert sold["amount"] == sold["running_balance"] == 41_667
        balances = [each["running_balance"] for each in entries(own_shop, "1100", basis="cash")]
        assert balances == [90_000, -10_000, 50_000]

    def test_a_released_allocation_counts_back_on_its_day(
        self, own_shop: Business, payment: Record
    ) -> None:
        SALES.change(own_shop, payment, allocations=[])
        later = {"date_from": str(today())}
        assert sums(own_shop, basis="cash", **MARCH) == ON_CASH
        taken_back = {"4000": 41_667, "2200": 8_333, "2100": -50_000}
        assert sums(own_shop, basis="cash", **later) == taken_back
        assert sums(own_shop, basis="accrual", **later) == {"1200": 50_000, "2100": -50_000}


@BOTH_SIDES
class TestSettled:
    def test_once_all_is_settled_both_bases_are_equal(self, acme: Partner, trade: Trade) -> None:
        shop = acme.business()
        party = trade.somebody(shop)
        taxed = line(10_000, sales_taxes=[{"amount": 2_000}])
        opened = trade.open(shop, party, line_items=[taxed, line(333)], additional_discount=100)
        total = opened["total_amount"]
        share = trade.share(opened, 1_001)
        trade.credit(shop, party, 1_001, share)
        trade.pay(shop, party, 4_000, trade.part(opened, 4_000))
        accrual, cash = both(shop)
        assert profit(accrual) != profit(cash)
        trade.pay(shop, party, total - 5_001, trade.part(opened, total - 5_001))
        accrual, cash = both(shop)
        assert profit(accrual) == profit(cash)
        assert sum(cash.values()) == sum(accrual.values()) == 0
        # On cash the discount reduces the sales themselves.
        assert "4200" not in cash

    def test_a_write_off_is_recognised_on_accrual_alone(self, acme: Partner, trade: Trade) -> None:
        shop = acme.business()
        opened = trade.open(shop, trade.somebody(shop), 900)
        trade.write_off(shop, opened)
        accrual, cash = both(shop)
        assert {trade.line, trade.given_up} == set(accrual)
        assert cash == {}


class TestRefunds:
    def test_a_refund_counts_on_cash_once_it_is_paid(self, acme: Partner) -> None:
        shop = acme.business()
        buyer = shop.customer()
        invoice = SALES.settle(shop, buyer, 1_000)
        refund = refunded(shop, invoice, amount_cents=300)
        agreed, paid = both(shop)
        assert (agreed["4100"], "4100" in paid) == (300, False)
        refund_paid(shop, refund, amount_cents=100)
        assert sums(shop, basis="cash")["4100"] == 100

    def test_a_vendors_refund_counts_on_cash_once_it_has_come(self, acme: Partner) -> None:
        shop = acme.business()
        vendor = shop.vendor()
        bill = PURCHASES.settle(shop, vendor, 1_000)
        made = agreed(shop, vendor, 300, of_bill(bill, 300))
        accrual, cash = both(shop)
        assert accrual == {"6000": 700, "1270": 300, "1100": -1_000}
        assert cash == {"6000": 1_000, "1100": -1_000}
        changed(shop, made["payment"], status="completed", payment_date="2025-03-20")
        assert sums(shop, basis="cash") == {"6000": 700, "1100": -700}


FAIR = {"4000": -1_000, "1200": 300, "6200": 100, "4100": 50}
FAIR_ON_CASH = {"4000": -600, "4100": 50}


@pytest.fixture(scope="module")
def tagged(acme: Partner) -> Business:
    shop = acme.business()
    buyer = shop.customer()
    fair = SALES.open(shop, buyer, 1_000, transaction_tags=["fair"], external_id="fair")
    SALES.open(shop, buyer, 2_000, transaction_tags=["shop"], external_id="shop")
    plain = SALES.open(shop, buyer, 4_000, external_id="plain")
    parts = SALES.part(fair, 600), SALES.part(plain, 400)
    tagged = {"transaction_tags": ["card"], "external_id": "paid"}
    SALES.pay(shop, buyer, 1_100, *parts, **tagged)
    SALES.write_off(shop, fair, amount_cents=100)
    refund_paid(shop, refunded(shop, fair, amount_cents=50), amount_cents=50)
    return shop


class TestTags:
    """Two invoices with tags and one without; one is paid with the rest of another's payment."""

    def test_a_tag_has_the_lines_of_its_documents(self, tagged: Business) -> None:
        assert both(tagged, tag="fair") == (FAIR, FAIR_ON_CASH)
        assert both(tagged, tag="shop") == ({"4000": -2_000, "1200": 2_000}, {})
        assert both(tagged, tag="never") == ({}, {})

    def test_money_and_its_rest_have_the_tags_of_the_payment(self, tagged: Business) -> None:
        assert both(tagged, tag="card") == ({"1100": 1_100, "2100": -100},) * 2

    @pytest.mark.parametrize("basis", ["accrual", "cash"])
    def test_tags_and_the_rest_add_up(self, tagged: Business, basis: str) -> None:
        total = Counter[str]()
        for part in ({"tag": "fair"}, {"tag": "shop"}, {"tag": "card"}, {"untagged": "true"}):
            total.update(sums(tagged, basis=basis, **part))
        whole = {code: amount for code, amount in total.items() if amount}
        assert whole == sums(tagged, basis=basis)

    def test_a_tag_and_none_at_once_is_refused(self, tagged: Business) -> None:
        faults = refused(tagged, f"{ACCOUNTS}4000/entries", tag="a", untagged="true")
        assert faults == {"untagged": ["cannot be combined with tag"]}


@BOTH_SIDES
class TestChangedTags:
    def test_a_changed_tag_of_a_payment_counts_for_past_postings(
        self, acme: Partner, trade: Trade
    ) -> None:
        shop = acme.business()
        payment = trade.pay(shop, trade.somebody(shop), 500, transaction_tags=["a", "b"])
        amounts = sums(shop, tag="a")
        assert amounts == sums(shop, tag="b") == sums(shop) != {}
        before = len(shop.api.get(ENTRIES).json()["results"])
        trade.change(shop, payment, transaction_tags=["c"])
        assert sums(shop, tag="a") == sums(shop, tag="b") == {}
        assert (sums(shop, tag="c"), sums(shop, untagged="true")) == (amounts, {})
        trade.change(shop, payment, transaction_tags=[])
        assert (sums(shop, tag="c"), sums(shop, untagged="true")) == ({}, amounts)
        assert len(shop.api.get(ENTRIES).json()["results"]) == before

    def test_a_changed_tag_of_a_document_counts_for_its_settlements(
        self, acme: Partner, trade: Trade
    ) -> None:
        shop = acme.business()
        party = trade.somebody(shop)
        opened = trade.open(shop, party, 500)
        body = trade.body(party, line(500), transaction_tags=["late"])
        answer = shop.api.put(trade.of(opened), json=body)
        assert answer.status_code == 200, answer.text
        trade.pay(shop, party, 500, trade.part(opened, 500))
        assert trade.line in sums(shop, tag="late", basis="cash")

    def test_a_credit_is_found_by_its_tags(self, acme: Partner, trade: Trade) -> None:
        shop = acme.business()
        party = trade.somebody(shop)
        opened = trade.open(shop, party, 500)
        trade.credit(shop, party, 300, trade.share(opened, 200), tags=["back"])
        accrual, cash = both(shop, tag="back")
        assert set(accrual) == {trade.credit_line, trade.credit_control}
        assert cash == trade.signed({trade.credit_line: 200})


class TestKnownThen:
    def test_later_postings_are_not_in_an_earlier_state(
        self, acme: Partner, api_server: Any
    ) -> None:
        shop = acme.business()
        booked(shop, "2025-01-10", "6000", "1100", 100)
        [first] = entries(shop, "6000")
        booked(shop, "2025-01-09", "6000", "1100", 30)
        known = {"known_at": first["posted_at"]}
        expected = {"6000": 100, "1100": -100}
        assert sums(shop, **known) == sums(shop, basis="cash", **known) == expected
        assert sums(shop) == {"6000": 130, "1100": -130}
        Ledger(api_server, shop).audit()


@BOTH_SIDES
class TestTagsOfLists:
    def test_a_filter_by_several_tags_finds_objects_with_any_tag(
        self, acme: Partner, trade: Trade
    ) -> None:
        shop = acme.business()
        party = trade.somebody(shop)
        made = {
            name: trade.open(shop, party, 500, transaction_tags=tags)["id"]
            for name, tags in (("a", ["a"]), ("ab", ["a", "b"]), ("c", ["c"]), ("none", []))
        }

        def found(path: str, asked: str) -> set[str]:
            answer = shop.api.get(path, params={"transaction_tags": asked})
            assert answer.status_code == 200, answer.text
            assert answer.json()["count"] == len(answer.json()["results"])
            return {each["id"] for each in answer.json()["results"]}

        assert found(trade.path, "b") == {made["ab"]}
        assert found(trade.path, "b,c") == {made["ab"], made["c"]}
        assert found(trade.path, "nobody") == set()
        paid = trade.pay(shop, party, 10, transaction_tags=["p"])
        assert found(trade.payments, "p,a") == {paid["id"]}
        back = trade.credit(shop, party, 10, tags=["k"])
        assert found(trade.credits, "k") == {back["id"]}
