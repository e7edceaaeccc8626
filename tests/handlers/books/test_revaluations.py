"""Revaluations of foreign balances: posted, mirrored, repeated, stale and reversed."""

from collections.abc import Iterator

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import open_account
from tests.builders.exchange_rates import table_set
from tests.builders.revaluations import REVALUATIONS
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.clock import today
from tests.partner import Business, Partner

DAY, NEXT_DAY = "2025-03-31", "2025-04-01"
GAINS, LOSSES = "4660", "7060"
USD: Record = {"currency": "USD", "exchange_rate": 0.9}


class ForeignBooks:
    """A business of its own, and its revaluations."""

    def __init__(self, api_server: ApiServer, business: Business) -> None:
        self.shop, self.ledger = business, Ledger(api_server, business)
        self.parties = {SALES: business.customer(), PURCHASES: business.vendor()}

    def open(self, trade: Trade, total: int = 10_000, **facts: object) -> Record:
        return trade.open(self.shop, self.parties[trade], total, **{**USD, **facts})

    def pay(self, trade: Trade, document: Record, amount: int, **facts: object) -> Record:
        part, party = trade.part(document, amount), self.parties[trade]
        return trade.pay(self.shop, party, amount, part, **{**USD, **facts})

    def run(self, usd: float | str | None = 0.97, day: str = DAY) -> tuple[int, Record]:
        rates = {} if usd is None else {"rates": {"USD": usd}}
        answer = self.shop.api.post(REVALUATIONS, json={"date": day, **rates})
        return answer.status_code, answer.json()

    def read(self, made: Record) -> Record:
        answer = self.shop.api.get(f"{REVALUATIONS}{made['id']}/")
        assert answer.status_code == 200, answer.text
        found: Record = answer.json()
        return found

    def reverse(self, made: Record) -> Record:
        answer = self.shop.api.post(f"{REVALUATIONS}{made['id']}/reverse/")
        assert answer.status_code == 200, answer.text
        found: Record = answer.json()
        return found


@pytest.fixture
def books(api_server: ApiServer, acme: Partner) -> Iterator[ForeignBooks]:
    books = ForeignBooks(api_server, acme.business())
    yield books
    books.ledger.audit()


class TestCreateRevaluation:
    @pytest.mark.parametrize("trade", [SALES, PURCHASES], ids=lambda each: each.noun)
    def test_what_is_owed_is_revalued_and_taken_back_on_the_next_day(
        self, books: ForeignBooks, trade: Trade
    ) -> None:
        document = books.open(trade)
        status, made = books.run()
        assert (status, made["status"], made["date"]) == (201, "posted", DAY)
        [item] = made["items"]
        account_id = item.pop("account_id")
        assert item == {
            "account_code": trade.control,
            "currency": "USD",
            "currency_balance": 10_000 * trade.sign,
            "base_balance_cents": 9_000 * trade.sign,
            "exchange_rate": 0.97,
            "difference_cents": 700 * trade.sign,
        }
        other = GAINS if trade.sells else LOSSES
        change = {trade.control: 700 * trade.sign, other: -700 * trade.sign}
        taken_back = {code: -amount for code, amount in change.items()}
        assert books.ledger.postings(made) == [(DAY, change), (NEXT_DAY, taken_back)]
        entry = books.ledger.entries(made)[0]
        shown = books.shop.api.get(f"general-ledger/journal-entries/{entry.id}/").json()
        assert (shown["source_type"], shown["posting_rule"]) == ("revaluation", "revaluation")
        [line] = [each for each in shown["lines"] if each["account_id"] == account_id]
        assert (line["currency"], line["currency_amount"]) == ("USD", 0)
        payment = books.pay(trade, document, 10_000, exchange_rate=0.95)
        [part] = payment["allocations"]
        assert part["exchange_difference_cents"] == 500 * trade.sign

    def test_the_same_run_again_posts_nothing_and_a_later_one_the_rest(
        self, books: ForeignBooks
    ) -> None:
        invoice = books.open(SALES)
        _, first = books.run()
        status, again = books.run()
        assert (status, again["status"], again["id"]) == (200, "unchanged", None)
        assert again["items"][0]["difference_cents"] == 0
        assert books.read(first)["is_stale"] is False
        books.pay(SALES, invoice, 4_000, exchange_rate=0.96, payment_date="2025-03-20")
        assert books.read(first)["is_stale"] is True
        _, rest = books.run()
        back = {"1200": 280, LOSSES: -280}
        posted = {"1200": -280, LOSSES: 280}
        assert books.ledger.postings(rest) == [(DAY, posted), (NEXT_DAY, back)]
        listed = books.shop.api.get(REVALUATIONS, params={"sort": "created_at"}).json()["results"]
        assert [each["id"] for each in listed] == [first["id"], rest["id"]]

    def test_a_bank_account_goes_on_from_its_new_value(self, books: ForeignBooks) -> None:
        bank = open_account(books.shop, display_name="Dollars", currency="USD")
        code = bank["account"]["code"]
        books.pay(SALES, books.open(SALES), 10_000)
        _, made = books.run()
        assert books.ledger.postings(made) == [(DAY, {code: 700, GAINS: -700})]
        spent = {"payment_date": NEXT_DAY, "exchange_rate": 0.95}
        bill = books.open(PURCHASES, **PURCHASES.on(NEXT_DAY), exchange_rate=0.95)
        books.pay(PURCHASES, bill, 10_000, **spent)
        account = books.shop.api.get(f"general-ledger/chart-of-accounts/{code}/").json()
        assert (account["currency_balance"], account["current_balance"]) == (0, 200)
        _, emptied = books.run(None, "2025-04-30")
        [item] = [each for each in emptied["items"] if each["account_code"] == code]
        assert (item["exchange_rate"], item["difference_cents"]) == (None, -200)
        assert books.ledger.postings(emptied) == [("2025-04-30", {LOSSES: 200, code: -200})]

    def test_the_tables_give_the_rates_that_are_left_out(self, books: ForeignBooks) -> None:
        books.open(SALES)
        status, refused = books.run(None)
        assert (status, refused["error_code"]) == (422, "exchange_rate_missing")
        table = {"reference_currency": "GBP", "rates": {"USD": "1.25"}}
        table_set(books.shop, DAY, **table)
        _, made = books.run(None)
        assert made["items"][0]["exchange_rate"] == 0.8
        table_set(books.shop, DAY, **{**table, "rates": {"USD": "1.2"}})
        assert books.read(made)["is_stale"] is True

    def test_claims_do_not_count_on_cash(self, books: ForeignBooks) -> None:
        books.open(SALES)
        books.run()
        query = {"start_date": DAY, "end_date": DAY}
        for basis, income in (("accrual", 700), ("cash", 0)):
            report = books.shop.api.get(
                "reports/profit-and-loss/", params={**query, "basis": basis}
            ).json()
            assert report["summary"]["net_profit_cents"] == income

    def test_a_wrong_run_is_refused(self, books: ForeignBooks) -> None:
        books.open(SALES)
        for body, refusal in (
            ({"date": "2199-01-01"}, (422, "date_out_of_order")),
            ({"date": DAY, "rates": {"GBP": 2}}, (422, "exchange_rate_not_needed")),
            ({"date": DAY, "rates": {"USD": 0.1234567890123}}, (422, "exchange_rate_invalid")),
            ({"date": DAY, "rates": {"USD": 0}}, (400, "validation_error")),
            ({"date": DAY, "rates": {"CHF": 1}}, (400, "validation_error")),
        ):
            assert books.ledger.refused("POST", REVALUATIONS, json=body) == refusal
        with books.ledger.locked(DAY):
            fault = books.ledger.refused("POST", REVALUATIONS, json={"date": DAY})
            assert fault == (409, "period_locked")

    def test_a_preview_keeps_nothing(self, books: ForeignBooks) -> None:
        books.open(SALES)
        with books.ledger.untouched():
            answer = books.shop.api.post(
                REVALUATIONS, params={"preview": True}, json={"date": DAY, "rates": {"USD": 0.97}}
            )
        assert answer.status_code == 200
        assert [each["entry_date"] for each in answer.json()["journal_entries"]] == [DAY, NEXT_DAY]

    def test_a_closed_statement_stays_as_it_is(self, books: ForeignBooks) -> None:
        bank = open_account(books.shop, display_name="Dollars", currency="USD")
        books.pay(SALES, books.open(SALES), 10_000)
        path = f"bank-accounts/{bank['id']}/reconciliations/"
        line = {
            "external_id": "1",
            "date": "2025-03-10",
            "amount_cents": 10_000,
            "direction": "credit",
        }
        imported = books.shop.api.post(
            "bank-transactions/", json={"bank_account_id": bank["id"], "transactions": [line]}
        ).json()["results"][0]
        [payment] = books.shop.api.get("invoices/payments/").json()["results"]
        target = {"target_type": "invoice_payment", "target_id": payment["id"]}
        books.shop.api.post(f"bank-transactions/{imported['id']}/match/", json=target)
        closed = books.shop.api.post(
            path, json={"statement_date": DAY, "closing_balance_cents": 10_000}
        ).json()
        assert (closed["status"], closed["ledger_balance_cents"]) == ("closed", 10_000)
        status, _ = books.run()
        assert status == 201
        again = books.shop.api.get(f"{path}{closed['id']}/").json()
        assert again["ledger_balance_cents"] == 10_000


class TestReverseRevaluation:
    def test_its_entries_are_reversed_on_their_days(self, books: ForeignBooks) -> None:
        books.open(SALES)
        _, made = books.run()
        reversed_ = books.reverse(made)
        assert reversed_["status"] == "reversed"
        assert reversed_["reversed_at"][:10] == str(today())
        days = [entry.on for entry in books.ledger.entries(made)]
        assert days == [DAY, NEXT_DAY, DAY, NEXT_DAY]
        assert books.read(made)["is_stale"] is False
        path = f"{REVALUATIONS}{made['id']}/reverse/"
        assert books.ledger.refused("POST", path) == (409, "invalid_state_transition")
        status, _ = books.run()
        assert status == 201

    def test_not_while_its_day_is_locked(self, books: ForeignBooks) -> None:
        books.open(SALES)
        _, made = books.run()
        with books.ledger.locked(DAY):
            path = f"{REVALUATIONS}{made['id']}/reverse/"
            assert books.ledger.refused("POST", path) == (409, "period_locked")
            assert books.read(made)["is_stale"] is False
