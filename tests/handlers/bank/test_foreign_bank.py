"""Bank accounts in a foreign currency, and foreign money at a bank account in base.

The examples are those of the rules, in pounds: USD 100.00 less 2.00 at 0.95 have 93.10.
"""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders import trade
from tests.builders.bank import (
    BILL_PAYMENT,
    BOOKED,
    JOURNAL_ENTRY,
    LINES,
    PAYMENT,
    REFUND_PAYMENT,
    RULES,
    TRANSFER,
    VENDOR_REFUND_PAYMENT,
    Bank,
    left,
    made_rule,
    matching,
    open_account,
)
from tests.builders.exchange_rates import table_set
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.payouts import PAYOUTS, payout_body
from tests.builders.purchases import bill_paid
from tests.builders.sales import paid, part, payment_body, sent
from tests.builders.tax_codes import CODES, code_body
from tests.builders.trade import PAID, PURCHASES, Record, read
from tests.builders.vendor_refunds import agreed_refund, of_payment
from tests.partner import Business

ACCOUNTS = "general-ledger/chart-of-accounts/"
BANKS = "bank-accounts/"
PAYMENTS = "invoices/payments/"
GAINS, LOSSES = "4650", "7050"
AT_95: Record = {"exchange_rate": 0.95}


@pytest.fixture(scope="module", autouse=True)
def rates(shop: Business, dollars: Bank) -> None:
    """Set the table of the day of payments: a dollar is 0.80, a krona 0.08."""
    pounds = {"reference_currency": "GBP", "rates": {"USD": "1.25", "SEK": "12.5"}}
    table_set(shop, PAID, **pounds)


@pytest.fixture(scope="module")
def dollars(shop: Business, current: Bank) -> Bank:
    return Bank(shop, open_account(shop, display_name="Dollars", currency="USD"))


@pytest.fixture(scope="module")
def kronor(shop: Business, current: Bank) -> Bank:
    return Bank(shop, open_account(shop, display_name="Kronor", currency="SEK"))


@pytest.fixture
def fresh(shop: Business) -> Business:
    """A business without any bank account."""
    return shop.partner.business()


def asset(business: Business, code: str) -> Record:
    kind = {"account_type": "asset", "account_subtype": "current_assets"}
    return business.made(ACCOUNTS, {"code": code, "name": f"Money {code}", **kind})


def ledger_account(business: Business, code: str) -> Record:
    account: Record = business.api.get(f"{ACCOUNTS}{code}/").json()
    return account


def balances(bank: Bank) -> tuple[int, int]:
    """Return the balance of a bank account in its own currency, and in base."""
    account = ledger_account(bank.shop, bank.code)
    return account["currency_balance"], account["current_balance"]


def received(shop: Business, buyer: Record, total: int = 10_000, **facts: Any) -> Record:
    """Record a payment of USD 100.00 at 0.95."""
    return paid(shop, buyer, total, **{"currency": "USD", **AT_95, **facts})


def in_norway(shop: Business, buyer: Record, total: int = 10_000, **facts: Any) -> Record:
    """Record a payment in a currency without a bank account, at 0.95."""
    return received(shop, buyer, total, currency="NOK", **facts)


def codes_of(account: Record) -> str:
    return str(account["account"]["code"])


def across(money: Record, amount: int | None = None, kind: str = PAYMENT, **facts: Any) -> Record:
    return matching(kind, money, amount, **facts)


def shown_across(line: Record, place: int = 0) -> tuple[int, int, int]:
    """Return both amounts of a link, and its difference: a gain above zero."""
    link = line["links"][place]
    names = ("amount_cents", "target_amount_cents", "exchange_difference_cents")
    amount, target, difference = (link[name] for name in names)
    return amount, target, difference


class TestCreateBankAccount:
    def test_one_in_dollars_has_a_new_account_under_1100(self, fresh: Business) -> None:
        dollars = open_account(fresh, display_name="Dollars", currency="USD")
        pounds = open_account(fresh)
        assert (codes_of(dollars), codes_of(pounds)) == ("1101", "1100")
        account = ledger_account(fresh, "1101")
        shown = ("name", "parent_account_code", "currency", "currency_balance", "current_balance")
        assert [account[name] for name in shown] == ["Dollars", "1100", "USD", 0, 0]
        assert ledger_account(fresh, "1100")["currency"] == "GBP"

    def test_a_named_account_without_lines_is_in_dollars_from_now_on(self, shop: Business) -> None:
        asset(shop, "1190")
        open_account(shop, currency="USD", account="1190")
        assert ledger_account(shop, "1190")["currency"] == "USD"

    def test_a_named_account_with_lines_or_of_another_currency_is_refused(
        self, shop: Business, ledger: Ledger, dollars: Bank
    ) -> None:
        asset(shop, "1191")
        lines = [debit("1191", 5), credit("2500", 5)]
        shop.made(ENTRIES, {"entry_date": BOOKED, "lines": lines, "post": True})
        for facts, refusal in (
            ({"currency": "USD", "account": "1191"}, (409, "account_in_use")),
            ({"currency": "SEK", "account": dollars.code}, (422, "currency_mismatch")),
            ({"account": dollars.code}, (422, "currency_mismatch")),
        ):
            body = {"display_name": "No", **facts}
            assert ledger.refused("POST", BANKS, json=body) == refusal
        assert open_account(shop, account="1191")["currency"] == "GBP"

    def test_a_named_account_that_something_else_uses_is_refused(
        self, shop: Business, ledger: Ledger, current: Bank
    ) -> None:
        used = ("1192", "1193", "1194", "1195")
        for code in (*used, "1196"):
            asset(shop, code)
        tax, of_line, of_rule, of_payout = used
        shop.made(CODES, code_body("D1", tax_account=tax))
        named = {"type": "AccountCode", "code": of_line}
        drafted = trade.line(100, account_identifier=named)
        PURCHASES.draft(shop, shop.vendor(), line_items=[drafted])
        made_rule(shop, "dues", of_rule, apply="suggest")
        item = {"type": "adjustment", "amount_cents": 100, "account": of_payout}
        payout = payout_body(100, status="pending", other_items=[item])
        shop.made(PAYOUTS, payout)
        for code in used:
            body = {"display_name": "No", "currency": "USD", "account": code}
            assert ledger.refused("POST", BANKS, json=body) == (409, "account_in_use")
        rule = made_rule(shop, "fees", "1196", apply="suggest")
        shop.api.delete(f"{RULES}{rule['id']}/")
        open_account(shop, currency="USD", account="1196")

    def test_its_account_takes_only_its_currency(
        self, ledger: Ledger, current: Bank, dollars: Bank, kronor: Bank
    ) -> None:
        body = {"account": dollars.code}
        for line in (current.line(-5), kronor.line(-5)):
            with ledger.untouched():
                refused = current.refused(line, "categorize", body)
            assert refused == (422, "currency_mismatch")


class TestCreatePayment:
    def test_it_moves_through_the_oldest_active_account_of_its_currency(
        self, fresh: Business
    ) -> None:
        buyer = fresh.customer()
        first, second = (Bank(fresh, open_account(fresh, currency="USD")) for _ in range(2))
        received(fresh, buyer, 600)
        assert (balances(first), balances(second)) == ((600, 570), (0, 0))
        # An empty account in dollars: the money goes back the way it came.
        body = {"status": "failed"}
        [payment] = fresh.api.get(PAYMENTS).json()["results"]
        assert fresh.api.patch(f"{PAYMENTS}{payment['id']}/", json=body).status_code == 200
        assert fresh.api.delete(f"{ACCOUNTS}{first.code}/").status_code == 200
        received(fresh, buyer, 700)
        assert (balances(first), balances(second)) == ((0, 0), (700, 665))

    def test_it_keeps_its_account_until_its_method_changes(
        self, fresh: Business, ledger: Ledger
    ) -> None:
        payment = received(fresh, fresh.customer())
        dollars = Bank(fresh, open_account(fresh, currency="USD"))
        path = f"{PAYMENTS}{payment['id']}/"
        assert fresh.api.patch(path, json={"exchange_rate": 0.9}).status_code == 200
        assert balances(dollars) == (0, 0)
        assert ledger_account(fresh, "1100")["current_balance"] == 9_000
        for method in ("cash", "bank_transfer"):
            assert fresh.api.patch(path, json={"payment_method": method}).status_code == 200
        assert balances(dollars) == (10_000, 9_000)
        assert ledger_account(fresh, "1100")["current_balance"] == 0

    def test_it_may_name_an_account_in_its_currency_or_in_base(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        bank: Bank,
        dollars: Bank,
        kronor: Bank,
    ) -> None:
        for named in (bank, dollars):
            payment = received(shop, buyer, bank_account_id=named.account["id"])
            assert ledger.postings(payment) == [(PAID, {named.code: 9_500, "2100": -9_500})]
        for currency in ("USD", "GBP"):
            facts = {"currency": currency, "bank_account_id": kronor.account["id"]}
            body = payment_body(buyer, **facts)
            refused = ledger.refused("POST", PAYMENTS, json=body)
            assert refused == (422, "bank_account_currency_mismatch")


class TestMatchForeignLine:
    def test_a_line_shows_money_of_its_currency(
        self, shop: Business, ledger: Ledger, buyer: Record, dollars: Bank, bank: Bank
    ) -> None:
        invoice = sent(shop, buyer, 10_000, currency="USD", exchange_rate=0.9)
        whole = part(invoice, 10_000)
        payment = received(shop, buyer, allocations=[whole], processing_fee_cents=200)
        assert ledger.postings(payment) == [
            (PAID, {dollars.code: 9_500, "1200": -9_000, GAINS: -500}),
            (PAID, {"6100": 190, dollars.code: -190}),
        ]
        before = balances(dollars)
        line = dollars.line(9_800)
        with ledger.moving() as moves:
            shown = dollars.match(line, PAYMENT, payment)
        assert (moves, left(shown), shown_across(shown)) == ({}, (9_800, 0, 0), (9_800, 9_800, 0))
        assert (line["currency"], balances(dollars)) == ("USD", before)
        with ledger.moving() as moves:
            dollars.unmatch(line)
        assert moves == {}

    def test_money_elsewhere_comes_to_its_account(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank, dollars: Bank
    ) -> None:
        payment = received(shop, buyer, bank_account_id=bank.account["id"])
        before, line = balances(dollars), dollars.line(4_000)
        with ledger.moving() as moves:
            dollars.match(line, PAYMENT, payment)
        assert moves == {bank.code: -9_500, dollars.code: 9_500}
        own, base = before
        assert balances(dollars) == (own + 10_000, base + 9_500)

    def test_no_tolerance_applies(
        self, shop: Business, ledger: Ledger, buyer: Record, dollars: Bank
    ) -> None:
        path = f"/v1/platform/businesses/{shop.id}/"
        payment, line = received(shop, buyer), dollars.line(9_998)
        shop.partner.api.patch(path, json={"matching_tolerance_cents": 5})
        shown = dollars.match(line, PAYMENT, payment)
        shop.partner.api.patch(path, json={"matching_tolerance_cents": 0})
        assert (left(shown), shown["rounding_difference_cents"]) == ((9_998, 0, 0), 0)
        assert left(dollars.match(dollars.line(10), PAYMENT, payment)) == (2, 0, 8)

    def test_pending_money_completes_at_its_own_rate(
        self, shop: Business, ledger: Ledger, vendor: Record, dollars: Bank
    ) -> None:
        facts = {"currency": "USD", "exchange_rate": 0.9, "status": "pending"}
        payment = bill_paid(shop, vendor, 10_000, **facts)
        dollars.match(dollars.line(-10_000), BILL_PAYMENT, payment)
        assert ledger.postings(payment) == [(PAID, {"1250": 9_000, dollars.code: -9_000})]

    def test_money_of_another_currency_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, dollars: Bank, kronor: Bank
    ) -> None:
        line = kronor.line(10_000)
        for money in (received(shop, buyer), paid(shop, buyer, 10_000)):
            body = across(money, target_amount_cents=10_000)
            with ledger.untouched():
                refused = kronor.refused(line, "match", body)
            assert refused == (422, "currency_mismatch")

    def test_a_second_amount_is_refused_in_one_currency(
        self, shop: Business, buyer: Record, dollars: Bank, ledger: Ledger
    ) -> None:
        line, payment = dollars.line(100), received(shop, buyer)
        body = across(payment, 100, target_amount_cents=99)
        with ledger.untouched():
            assert dollars.refused(line, "match", body) == (400, "validation_error")
        same = dollars.done(line, "match", across(payment, 100, target_amount_cents=100))
        assert shown_across(same) == (100, 100, 0)


class TestMatchLineInBase:
    def test_the_difference_is_exchange_of_the_day_of_the_line(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        payment = in_norway(shop, buyer, processing_fee_cents=200)
        posted = [(PAID, {"1100": 9_500, "2100": -9_500}), (PAID, {"6100": 190, "1100": -190})]
        line = current.line(9_280)
        shown = current.match(line, PAYMENT, payment)
        assert (left(shown), shown_across(shown)) == ((9_280, 0, 0), (9_280, 9_800, -30))
        assert ledger.postings(payment) == posted  # Together 93.10 at the bank.
        assert ledger.postings(line) == [(BOOKED, {LOSSES: 30, "1100": -30})]
        [entry] = ledger.entries(line)
        assert entry.description == "Exchange difference of bank transaction"
        [link] = read(shop, PAYMENTS, payment)["reconciled_bank_transactions"]
        assert (link["reconciled_amount_cents"], link["currency"]) == (9_280, "GBP")
        assert current.read(line) == shown
        with ledger.moving() as moves:
            assert left(current.unmatch(line)) == (0, 0, 9_280)
        assert moves == {LOSSES: -30, "1100": 30}
        assert ledger.entries(line)[1].reversal_of == entry.id

    def test_money_that_goes_out_gains_where_less_is_paid(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        facts = {"currency": "NOK", **AT_95, "processing_fee_cents": 200}
        payment = bill_paid(shop, vendor, 10_000, **facts)
        line = bank.line(-9_650)
        with ledger.moving() as moves:
            shown = bank.match(line, BILL_PAYMENT, payment)
        assert shown_across(shown) == (9_650, 10_200, 40)
        assert moves == {"1100": 9_690, bank.code: -9_650, GAINS: -40}
        assert ledger.postings(line) == [(BOOKED, {bank.code: 40, GAINS: -40})]

    def test_parts_share_the_base_that_no_line_shows_yet(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        payment = in_norway(shop, buyer, 3, exchange_rate=0.3333)
        lines = [current.line(5) for _ in range(3)]
        for line, amount, difference in zip(lines, (1, 2, 3), (1, 1, 3), strict=True):
            body = across(payment, amount, target_amount_cents=1)
            assert shown_across(current.done(line, "match", body)) == (amount, 1, difference)
        assert [ledger.postings(line) for line in lines] == [
            [(BOOKED, {"1100": gain, GAINS: -gain})] for gain in (1, 1, 3)
        ]

    def test_one_line_shows_several_and_each_has_its_difference(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        first, second = in_norway(shop, buyer, 1_000), in_norway(shop, buyer, 2_000)
        line = current.line(3_000)
        current.done(line, "match", across(first, 1_000))
        shown = current.match(line, PAYMENT, second)
        assert (shown_across(shown), shown_across(shown, 1)) == (
            (1_000, 1_000, 50),
            (2_000, 2_000, 100),
        )
        current.unmatch(line)
        moved = [amounts for _, amounts in ledger.postings(line)]
        assert sum(each[GAINS] for each in moved) == -100

    def test_more_than_is_left_in_either_currency_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        payment, line = in_norway(shop, buyer), current.line(9_000)
        current.done(line, "match", across(payment, 4_000, target_amount_cents=4_000))
        other = current.line(9_000)
        for asked, amount, own in (
            (line, 5_001, 100),
            (line, 100, 6_001),
            (other, 9_001, 6_000),
            (other, None, 6_001),
        ):
            body = across(payment, amount, target_amount_cents=own)
            with ledger.untouched():
                refused = current.refused(asked, "match", body)
            assert refused == (422, "link_exceeds_remaining")
        assert left(current.match(line, PAYMENT, payment)) == (9_000, 0, 0)
        with ledger.untouched():
            refused = current.refused(other, "match", across(payment))
        assert refused == (422, "link_exceeds_remaining")

    def test_money_that_it_shows_keeps_its_amount_and_its_rate(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        payment, line = in_norway(shop, buyer), current.line(100)
        current.done(line, "match", across(payment, target_amount_cents=100))
        path = f"{PAYMENTS}{payment['id']}/"
        for changes in (
            {"total_amount_cents": 10_001},
            {"exchange_rate": 0.96},
            {"base_amount_cents": 9_501},
            {"processing_fee_cents": 1},
        ):
            assert ledger.refused("PATCH", path, json=changes) == (409, "linked_in_base")
        assert shop.api.patch(path, json={"note": "Late"}).status_code == 200
        current.unmatch(line)
        assert shop.api.patch(path, json={"exchange_rate": 0.96}).status_code == 200

    def test_pending_money_is_shown_whole_and_completes(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        payment = in_norway(shop, buyer, status="pending")
        line = current.line(9_600)
        body = across(payment, target_amount_cents=9_999)
        with ledger.untouched():
            assert current.refused(line, "match", body) == (409, "item_not_completed")
        with ledger.moving() as moves:
            current.match(line, PAYMENT, payment)
        assert moves == {"1100": 9_600, "2100": -9_500, GAINS: -100}
        assert read(shop, PAYMENTS, payment)["status"] == "completed"

    def test_its_return_comes_at_its_own_difference(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        payment = in_norway(shop, buyer)
        current.match(current.line(9_600), PAYMENT, payment)
        back = current.line(-9_450, date="2025-03-20")
        with ledger.moving() as moves:
            shown = current.match_return(back, PAYMENT, payment)
        assert shown_across(shown) == (9_450, 10_000, 50)
        assert moves == {"1100": -9_450, "2100": 9_500, GAINS: -50}
        assert ledger.postings(back) == [("2025-03-20", {"1100": 50, GAINS: -50})]

    def test_money_that_moved_twice_is_shown_twice(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        payment = in_norway(shop, buyer)
        path = f"{PAYMENTS}{payment['id']}/"
        current.match(current.line(9_600), PAYMENT, payment)
        for status, day in (("failed", "2025-03-20"), ("completed", "2025-03-25")):
            body = {"status": status, "status_date": day}
            assert shop.api.patch(path, json=body).status_code == 200
        assert ledger.refused("PATCH", path, json={"exchange_rate": 1}) == (409, "linked_in_base")
        again = current.line(9_480, date="2025-03-26")
        shown = current.match(again, PAYMENT, payment)
        assert shown_across(shown) == (9_480, 10_000, -20)
        more = current.line(1)
        with ledger.untouched():
            refused = current.refused(more, "match", across(payment))
        assert refused == (422, "link_exceeds_remaining")

    def test_money_in_the_currency_of_an_account_comes_to_that_of_the_line(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank, dollars: Bank
    ) -> None:
        payment, before = received(shop, buyer, 1_000), balances(dollars)
        line = current.line(960)
        with ledger.moving() as moves:
            current.match(line, PAYMENT, payment)
        assert moves == {dollars.code: -950, "1100": 960, GAINS: -10}
        own, base = before
        assert balances(dollars) == (own - 1_000, base - 950)
        elsewhere = dollars.line(10)
        with ledger.untouched():
            refused = dollars.refused(elsewhere, "match", across(payment))
        assert refused == (422, "bank_account_mismatch")

    def test_refund_payments_of_both_sides(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record, current: Bank
    ) -> None:
        given = in_norway(shop, buyer, 1_000)
        refund = shop.made(
            "invoices/refunds/",
            {"payment_id": given["id"], "completed_at": f"{PAID}T10:00:00Z", **AT_95},
        )
        [out] = refund["refund_payments"]
        shown = current.match(current.line(-940), REFUND_PAYMENT, out)
        assert shown_across(shown) == (940, 1_000, 10)
        spent = bill_paid(shop, vendor, 1_000, currency="NOK", **AT_95)
        facts = {"currency": "NOK", "exchange_rate": 0.9, "allocations": [of_payment(spent, 1_000)]}
        [came] = agreed_refund(shop, vendor, 1_000, **facts)["vendor_refund_payments"]
        shown = current.match(current.line(890), VENDOR_REFUND_PAYMENT, came)
        assert shown_across(shown) == (890, 1_000, -10)


class TestCategorizeBankTransaction:
    def test_a_given_rate(self, ledger: Ledger, dollars: Bank) -> None:
        line = dollars.line(-333)
        assert (line["exchange_rate"], line["base_categorized_cents"]) == (None, 0)
        done = dollars.categorize(line, "6300", exchange_rate="0.91")
        assert (done["exchange_rate"], done["base_categorized_cents"]) == (0.91, 303)
        assert (left(done), done["category"]["amount_cents"]) == ((0, 333, 0), 333)
        assert ledger.postings(line) == [(BOOKED, {"6300": 303, dollars.code: -303})]
        assert dollars.read(line) == done
        with ledger.moving() as moves:
            free = dollars.uncategorize(line)
        assert moves == {"6300": -303, dollars.code: 303}
        assert (free["exchange_rate"], free["base_categorized_cents"]) == (None, 0)

    def test_the_rate_of_the_table_for_what_remains(
        self, shop: Business, ledger: Ledger, buyer: Record, dollars: Bank
    ) -> None:
        line = dollars.line(1_000)
        dollars.match(line, PAYMENT, received(shop, buyer, 400))
        done = dollars.categorize(line, "4600")
        assert (done["exchange_rate"], done["base_categorized_cents"]) == (0.8, 480)
        assert ledger.postings(line) == [(BOOKED, {dollars.code: 480, "4600": -480})]

    def test_parts_and_their_tax_are_converted_as_in_a_document(
        self, ledger: Ledger, dollars: Bank
    ) -> None:
        # Tax is 16.67 and its base 15.21; the nets 83.33 and 20.00 share the rest.
        parts = [
            {"account": "6300", "amount_cents": 10_000, "tax_code": "P20"},
            {"account": "6000", "amount_cents": 2_000},
        ]
        line = dollars.line(-12_000)
        body = {"splits": parts, "exchange_rate": "0.91234"}
        done = dollars.done(line, "categorize", body)
        posted = {"6300": 7_602, "6000": 1_825, "1300": 1_521, dollars.code: -10_948}
        assert ledger.postings(line) == [(BOOKED, posted)]
        assert done["base_categorized_cents"] == 10_948
        taxed, plain = done["splits"]
        assert (taxed["amount_cents"], taxed["tax_cents"]) == (10_000, 1_667)
        assert (plain["amount_cents"], plain["tax_cents"]) == (2_000, 0)

    def test_another_account_of_its_currency_gets_its_own_amount(
        self, shop: Business, ledger: Ledger, dollars: Bank
    ) -> None:
        other = Bank(shop, open_account(shop, currency="USD"))
        line = dollars.line(-1_000)
        parts = [
            {"account": other.code, "amount_cents": 700},
            {"account": "6300", "amount_cents": 300},
        ]
        dollars.done(line, "categorize", {"splits": parts, "exchange_rate": 0.9})
        posted = {other.code: 630, "6300": 270, dollars.code: -900}
        assert ledger.postings(line) == [(BOOKED, posted)]
        assert balances(other) == (700, 630)

    def test_a_currency_without_decimals(self, shop: Business, ledger: Ledger) -> None:
        iceland = Bank(shop, open_account(shop, currency="ISK"))
        line = iceland.line(-15_000)
        iceland.categorize(line, "6300", exchange_rate=0.0067)
        assert ledger.postings(line) == [(BOOKED, {"6300": 10_050, iceland.code: -10_050})]
        assert balances(iceland) == (-15_000, -10_050)

    def test_an_amount_too_small_for_base_is_in_the_books(
        self, shop: Business, ledger: Ledger, kronor: Bank
    ) -> None:
        own, base = balances(kronor)
        line = kronor.line(5)
        done = kronor.categorize(line, "4600", exchange_rate=0.0874)
        assert (left(done), done["base_categorized_cents"]) == ((0, 5, 0), 0)
        assert ledger.postings(line) == [(BOOKED, {kronor.code: 0, "4600": 0})]
        assert balances(kronor) == (own + 5, base)
        kronor.uncategorize(line)
        assert balances(kronor) == (own, base)

    def test_a_line_in_base_has_the_rate_1(self, ledger: Ledger, current: Bank) -> None:
        line = current.line(-50)
        body = {"account": "6300", "exchange_rate": 0.9}
        with ledger.untouched():
            refused = current.refused(line, "categorize", body)
        assert refused == (422, "exchange_rate_not_needed")
        done = current.categorize(line, "6300", exchange_rate=1)
        assert (done["exchange_rate"], done["base_categorized_cents"]) == (1, 50)

    def test_without_a_rate_and_a_table_it_is_refused(self, ledger: Ledger, dollars: Bank) -> None:
        line = dollars.line(-50, date="2025-04-20")
        with ledger.untouched():
            refused = dollars.refused(line, "categorize", {"account": "6300"})
        assert refused == (422, "exchange_rate_missing")


class TestTransfers:
    def test_between_dollars_and_pounds_both_are_worth_the_pounds(
        self, ledger: Ledger, current: Bank, dollars: Bank
    ) -> None:
        out, come = dollars.line(-10_000, date="2025-03-14"), current.line(9_200)
        before = balances(dollars)
        with ledger.moving() as moves:
            done = dollars.match(out, TRANSFER, come)
        assert moves == {"1100": 9_200, dollars.code: -9_200}
        assert (left(done), left(current.read(come))) == ((10_000, 0, 0), (9_200, 0, 0))
        assert [link["amount_cents"] for link in current.read(come)["links"]] == [9_200]
        own, base = before
        assert balances(dollars) == (own - 10_000, base - 9_200)
        [link] = done["links"]
        assert [on for on, _ in ledger.postings({"id": link["target_id"]})] == [BOOKED]
        with ledger.moving() as moves:
            current.unmatch(come)
        assert moves == {"1100": -9_200, dollars.code: 9_200}
        assert left(dollars.read(out)) == (0, 0, 10_000)

    def test_a_part_of_each_line(self, ledger: Ledger, current: Bank, dollars: Bank) -> None:
        out, come = current.line(-9_000), dollars.line(10_000)
        body = {**matching(TRANSFER, come, 4_500), "target_amount_cents": 5_000}
        with ledger.moving() as moves:
            done = current.done(out, "match", body)
        assert moves == {dollars.code: 4_500, "1100": -4_500}
        assert (left(done), left(dollars.read(come))) == ((4_500, 0, 4_500), (5_000, 0, 5_000))
        for amount, target in ((4_501, 5_000), (4_500, 5_001)):
            body = {**matching(TRANSFER, come, amount), "target_amount_cents": target}
            with ledger.untouched():
                refused = current.refused(out, "match", body)
            assert refused == (422, "link_exceeds_remaining")

    @pytest.mark.parametrize("leaving_first", [True, False])
    def test_between_two_foreign_accounts_what_leaves_has_the_rate(
        self, ledger: Ledger, dollars: Bank, kronor: Bank, leaving_first: bool
    ) -> None:
        out, come = dollars.line(-1_000), kronor.line(9_000)
        with ledger.moving() as moves:
            if leaving_first:
                dollars.match(out, TRANSFER, come)
            else:
                kronor.match(come, TRANSFER, out)
        assert moves == {kronor.code: 800, dollars.code: -800}
        assert (left(dollars.read(out)), left(kronor.read(come))) == ((1_000, 0, 0), (9_000, 0, 0))

    def test_between_two_in_dollars_it_waits_with_the_rate_of_the_table(
        self, shop: Business, ledger: Ledger, dollars: Bank
    ) -> None:
        other = Bank(shop, open_account(shop, currency="USD"))
        out = dollars.line(-1_000)
        with ledger.moving() as moves:
            dollars.transfer(out, other)
        assert moves == {other.code: 800, dollars.code: -800}
        assert balances(other) == (1_000, 800)
        with ledger.moving() as moves:
            assert left(other.match(other.line(1_000), TRANSFER, out)) == (1_000, 0, 0)
        assert moves == {}
        with ledger.moving() as moves:
            dollars.unmatch(out)
        assert moves == {other.code: -800, dollars.code: 800}

    def test_it_does_not_begin_with_one_line(
        self, ledger: Ledger, current: Bank, dollars: Bank
    ) -> None:
        for here, there in ((dollars, current), (current, dollars)):
            body = {"target_type": TRANSFER, "bank_account_id": there.account["id"]}
            line = here.line(-100)
            with ledger.untouched():
                assert here.refused(line, "match", body) == (422, "currency_mismatch")

    def test_a_second_amount_is_refused_in_one_currency(
        self, ledger: Ledger, dollars: Bank, current: Bank, bank: Bank
    ) -> None:
        line, other = current.line(-100), bank.line(100)
        waiting = {"target_type": TRANSFER, "bank_account_id": bank.account["id"]}
        for body in (matching(TRANSFER, other), waiting):
            with ledger.untouched():
                refused = current.refused(line, "match", {**body, "target_amount_cents": 90})
            assert refused == (400, "validation_error")

    def test_without_a_rate_two_foreign_accounts_are_refused(
        self, ledger: Ledger, dollars: Bank, kronor: Bank
    ) -> None:
        out, come = (each.line(n, date="2025-04-20") for each, n in ((dollars, -10), (kronor, 90)))
        with ledger.untouched():
            refused = dollars.refused(out, "match", matching(TRANSFER, come))
        assert refused == (422, "exchange_rate_missing")


class TestCreateBankReconciliation:
    @pytest.fixture
    def own(self, shop: Business, dollars: Bank) -> Bank:
        """Open an account in dollars of its own: a closed statement stays closed."""
        return Bank(shop, open_account(shop, currency="USD"))

    def test_a_statement_closes_with_its_own_amounts(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank, own: Bank
    ) -> None:
        named = own.account["id"]
        own.match(own.line(10_000), PAYMENT, received(shop, buyer, bank_account_id=named))
        fee = own.line(-333)
        own.categorize(fee, "6300", exchange_rate=0.91)
        own.match(own.line(-5_000), TRANSFER, current.line(4_800))
        statement = own.closed("2025-03-31", 4_667)
        assert statement["ledger_balance_cents"] == 4_667
        assert (statement["money_without_lines"], statement["unexplained_cents"]) == ([], 0)
        path = f"{own.statements}{statement['id']}/"
        assert shop.api.get(path).json() == statement
        assert balances(own) == (4_667, 9_500 - 303 - 4_800)
        with ledger.untouched():
            assert own.refused(fee, "uncategorize") == (409, "bank_reconciled")
        own.categorize(own.line(100, date="2025-04-02"), "4600", exchange_rate=2)
        assert own.closed("2025-04-30", 4_767)["opening_balance_cents"] == 4_667

    def test_what_is_unmatched_is_shown_in_its_own_amounts(
        self, shop: Business, buyer: Record, own: Bank
    ) -> None:
        payment = received(shop, buyer, bank_account_id=own.account["id"])
        own.match(own.line(9_000), PAYMENT, payment)
        strange = own.line(-70)
        statement = own.reconcile("2025-03-31", 8_900)
        assert statement["status"] == "open"
        assert (statement["ledger_balance_cents"], statement["difference_cents"]) == (
            10_000,
            -1_100,
        )
        [money], [line] = statement["money_without_lines"], statement["lines_without_money"]
        assert (money["source_id"], money["amount_cents"]) == (payment["id"], 1_000)
        assert (line["bank_transaction_id"], line["amount_cents"]) == (strange["id"], -70)
        assert statement["unexplained_cents"] == -30
        reopened = own.reconcile("2025-03-31", 10_000)
        assert (reopened["id"], reopened["status"]) == (statement["id"], "closed")
        assert own.reopen(reopened)["money_without_lines"] == statement["money_without_lines"]

    def test_an_account_in_base_that_shows_foreign_money_has_nothing_unmatched(
        self, shop: Business, buyer: Record, current: Bank
    ) -> None:
        pounds = Bank(shop, open_account(shop))
        for line, rate in ((9_280, 0.95), (9_700, 0.9)):
            payment = in_norway(shop, buyer, exchange_rate=rate)
            pounds.match(pounds.line(line), PAYMENT, payment)
        statement = pounds.closed("2025-03-31", 18_980)
        assert (statement["money_without_lines"], statement["unexplained_cents"]) == ([], 0)

    def test_a_closed_statement_in_base_keeps_the_base_amount_of_its_money(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank
    ) -> None:
        pounds = Bank(shop, open_account(shop))
        payment = in_norway(shop, buyer, bank_account_id=pounds.account["id"])
        pounds.closed("2025-03-31", 9_500)
        path = f"{PAYMENTS}{payment['id']}/"
        for changes in ({"base_amount_cents": 9_600}, {"exchange_rate": 0.96}):
            assert ledger.refused("PATCH", path, json=changes) == (409, "bank_reconciled")


class TestSuggestMatches:
    def test_only_money_of_the_currency_of_the_line(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank, dollars: Bank
    ) -> None:
        abroad, home = received(shop, buyer, 7_717), paid(shop, buyer, 7_717)
        for bank, target in ((dollars, abroad), (current, home)):
            found = bank.suggested(bank.line(7_717))
            assert [each["target_id"] for each in found if each["amount_cents"] == 7_717] == [
                target["id"]
            ]

    def test_only_of_its_currency_by_reference_too(
        self, shop: Business, buyer: Record, dollars: Bank
    ) -> None:
        paid(shop, buyer, 31, external_id="home-31", payment_date="2024-01-01")
        known = received(shop, buyer, 31, external_id="abroad-31", payment_date="2024-01-01")
        for name, found in (("home-31", []), ("abroad-31", [known["id"]])):
            suggested = dollars.suggested(dollars.line(8_888_881, reference=name))
            assert [each["target_id"] for each in suggested] == found

    def test_money_that_came_back_is_suggested_in_its_currency(
        self, shop: Business, ledger: Ledger, buyer: Record, current: Bank, dollars: Bank
    ) -> None:
        payment = received(shop, buyer, 6_619)
        path = f"{PAYMENTS}{payment['id']}/"
        body = {"status": "failed", "status_date": BOOKED}
        assert shop.api.patch(path, json=body).status_code == 200
        for bank, found in ((dollars, [payment["id"]]), (current, [])):
            suggested = bank.suggested(bank.line(-6_619))
            assert [each["target_id"] for each in suggested] == found

    def test_combinations_have_money_of_the_currency_of_the_line(
        self, shop: Business, current: Bank, dollars: Bank
    ) -> None:
        buyer = shop.customer(company_name="Yarn Mill")
        first, second = (received(shop, buyer, amount) for amount in (52_003, 43_004))
        paid(shop, buyer, 43_004)
        [found] = dollars.suggestions(dollars.line(95_007))["combinations"]
        assert [each["target_id"] for each in found["targets"]] == [first["id"], second["id"]]
        assert current.suggestions(current.line(95_007))["combinations"] == []

    def test_entries_and_transfers_have_the_amount_in_the_currency_of_the_line(
        self, shop: Business, current: Bank, dollars: Bank
    ) -> None:
        loan = lent(dollars, 4_447, 5_558)
        other = Bank(shop, open_account(shop, currency="USD"))
        out = other.line(-5_558)
        current.line(-5_558)
        found = dollars.suggested(dollars.line(5_558))
        assert {each["target_id"] for each in found if each["amount_cents"] == 5_558} == {
            loan["id"],
            out["id"],
        }
        wrong = dollars.suggested(dollars.line(4_447))
        assert loan["id"] not in {each["target_id"] for each in wrong}


class TestImportBankTransactions:
    def test_an_automatic_rule_posts_at_the_rate_of_the_table(
        self, shop: Business, ledger: Ledger, dollars: Bank
    ) -> None:
        rule = made_rule(shop, "overseas fee", apply="automatic")
        with ledger.moving() as moves:
            line = dollars.line(-1_000, description="OVERSEAS FEE")
        assert moves == {"6300": 800, dollars.code: -800}
        assert (line["categorized_by_rule_id"], line["exchange_rate"]) == (rule["id"], 0.8)
        assert line["base_categorized_cents"] == 800

    def test_a_rule_posts_to_no_account_in_a_foreign_currency(
        self, ledger: Ledger, dollars: Bank
    ) -> None:
        result = {"account": dollars.code}
        body = {"name": "n", "conditions": {"text": "a"}, "result": result}
        assert ledger.refused("POST", RULES, json=body) == (422, "currency_mismatch")

    def test_without_a_rate_it_is_suggested(
        self, shop: Business, ledger: Ledger, dollars: Bank
    ) -> None:
        rule = made_rule(shop, "rateless fee", apply="automatic")
        sent_line = {
            "date": "2025-04-20",
            "amount_cents": 90,
            "direction": "debit",
            "description": "RATELESS FEE",
        }
        body = {"bank_account_id": dollars.account["id"], "transactions": [sent_line]}
        with ledger.moving() as moves:
            [result] = shop.api.post(LINES, json=body).json()["results"]
        assert moves == {}
        assert (result["suggested_by_rule_id"], result["categorized_by_rule_id"]) == (
            rule["id"],
            None,
        )
        assert dollars.suggestions(result)["rule"]["amount_cents"] == 90


def lent(bank: Bank, base: int, own: int, **facts: Any) -> Record:
    """Write a loan in dollars by hand."""
    taken = debit(bank.code, base, currency="USD", currency_amount=own)
    lines = [taken, credit("2500", base)]
    return bank.shop.made(ENTRIES, {"entry_date": BOOKED, "lines": lines, "post": True, **facts})


class TestEntriesByHand:
    def test_a_line_shows_their_own_amount(self, ledger: Ledger, dollars: Bank) -> None:
        loan = lent(dollars, 9_000, 10_000)
        taken, _ = loan["lines"]
        assert (taken["currency"], taken["currency_amount"]) == ("USD", 10_000)
        with ledger.moving() as moves:
            first = dollars.match(dollars.line(9_500), JOURNAL_ENTRY, loan)
        assert (moves, left(first)) == ({}, (9_500, 0, 0))
        second = dollars.line(600)
        assert left(dollars.match(second, JOURNAL_ENTRY, loan)) == (500, 0, 100)
        dollars.unmatch(second)
        third = dollars.line(501)
        body = matching(JOURNAL_ENTRY, loan, 501)
        with ledger.untouched():
            assert dollars.refused(third, "match", body) == (422, "link_exceeds_remaining")

    def test_without_an_own_amount_they_are_refused(
        self, ledger: Ledger, current: Bank, dollars: Bank
    ) -> None:
        for facts, code in (
            ({}, "currency_amount_required"),
            ({"currency": "SEK", "currency_amount": 5}, "currency_mismatch"),
            ({"currency": "USD", "currency_amount": -5}, "currency_amount_invalid"),
        ):
            lines = [debit(dollars.code, 5, **facts), credit("2500", 5)]
            body = {"entry_date": BOOKED, "lines": lines, "post": True}
            assert ledger.refused("POST", ENTRIES, json=body) == (422, code)
