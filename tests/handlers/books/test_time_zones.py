"""The time zone of a business: its default, its changes, and the days of moments over HTTP."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from accounting.books.businesses import COUNTRIES
from accounting.books.time_zones import BY_COUNTRY, day_of, start_of
from tests import clock
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders import openings, payouts
from tests.builders.bank import Bank, open_account
from tests.builders.requests import cancelling_refund, refunding
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.partner import Business, Partner

BUSINESSES = "/v1/platform/businesses/"
BOTH_SIDES = pytest.mark.parametrize("trade", [SALES, PURCHASES], ids=["sales", "purchases"])
LATE = "2025-03-10T23:30:00Z"
NEXT_DAY = "2025-03-11"
FAR = ("Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kolkata")


def body(**facts: Any) -> dict[str, Any]:
    needed = {"legal_name": "Grachten BV", "entity_type": "other", "email": "a@b.example.com"}
    return {"external_id": f"zoned-{clock.now().timestamp()}", **needed, **facts}


def change(shop: Business, **changes: Any) -> httpx.Response:
    return shop.partner.api.patch(f"{BUSINESSES}{shop.id}/", json=changes)


@pytest.fixture
def dutch(acme: Partner) -> Business:
    """A business in Amsterdam by its country."""
    return acme.business(country="NL", entity_type="bv", base_currency="GBP", timezone=None)


@pytest.fixture
def books(api_server: ApiServer, dutch: Business) -> Iterator[Ledger]:
    ledger = Ledger(api_server, dutch)
    yield ledger
    ledger.audit()


class TestCreateBusiness:
    @pytest.mark.parametrize("country", COUNTRIES)
    def test_takes_the_time_zone_of_its_country(self, acme: Partner, country: str) -> None:
        forms = {"GB": "limited", "DE": "gmbh", "NL": "bv", "ES": "sl", "BE": "bv"}
        forms |= {"MY": "bhd", "SG": "vcc"}
        form = forms.get(country, "other")
        answer = acme.api.post(BUSINESSES, json=body(country=country, entity_type=form))
        assert answer.json()["timezone"] == BY_COUNTRY[country]

    def test_takes_utc_without_a_country_and_any_zone_that_is_given(self, acme: Partner) -> None:
        assert acme.api.post(BUSINESSES, json=body()).json()["timezone"] == "UTC"
        for timezone in (*FAR, "Asia/Calcutta", "Etc/GMT+5"):
            answer = acme.api.post(BUSINESSES, json=body(timezone=timezone))
            assert (answer.status_code, answer.json()["timezone"]) == (201, timezone)

    @pytest.mark.parametrize(
        "timezone", ["", "Amsterdam", "europe/amsterdam", "Europe", "+01:00", "../UTC", "zones", 1]
    )
    def test_of_an_unknown_zone_is_400(self, acme: Partner, timezone: Any) -> None:
        answer = acme.api.post(BUSINESSES, json=body(timezone=timezone))
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert list(answer.json()["detail"]["field_errors"]) == ["timezone"]


class TestUpdateBusiness:
    def test_changes_the_zone_and_refuses_an_unknown_one(self, dutch: Business) -> None:
        assert change(dutch, timezone="Asia/Kolkata").json()["timezone"] == "Asia/Kolkata"
        answer = change(dutch, timezone="Asia/Delhi")
        told = answer.json()["detail"]["field_errors"]["timezone"]
        assert answer.status_code == 400
        assert told == ["must be an IANA time zone, such as Europe/Amsterdam"]
        assert dutch.api.get("").json()["timezone"] == "Asia/Kolkata"

    @pytest.mark.parametrize("timezone", FAR)
    def test_the_lock_date_is_at_most_today_there(self, dutch: Business, timezone: str) -> None:
        # The zone that is sent with it counts.
        today = day_of(clock.now(), timezone)
        late = {"timezone": timezone, "lock_date": f"{today + timedelta(days=1)}"}
        answer = change(dutch, **late)
        assert (answer.status_code, answer.json()["error_code"]) == (422, "lock_date_in_future")
        assert answer.json()["detail"]["today"] == f"{today}"
        assert change(dutch, **{**late, "lock_date": f"{today}"}).status_code == 200

    def test_another_zone_leaves_no_lock_in_the_future(self, dutch: Business) -> None:
        ahead = {"timezone": "Pacific/Kiritimati"}
        today = day_of(clock.now(), ahead["timezone"])
        assert change(dutch, **ahead, lock_date=f"{today}").status_code == 200
        answer = change(dutch, timezone="Pacific/Pago_Pago")  # 25 hours behind.
        assert (answer.status_code, answer.json()["error_code"]) == (422, "lock_date_in_future")
        assert change(dutch, lock_date=None).status_code == 200


class TestDays:
    """A moment at 23:30 in UTC is on the next day in Amsterdam."""

    @BOTH_SIDES
    def test_documents_credits_and_write_offs(
        self, dutch: Business, books: Ledger, trade: Trade
    ) -> None:
        party = trade.somebody(dutch)
        at: Record = {trade.moment: LATE}
        document = dutch.made(trade.path, trade.body(party, **at))
        given = trade.write_off(dutch, document, amount_cents=400, write_off_at=LATE)
        credit = dutch.made(trade.credits, trade.credit_body(party, **at))
        void = dutch.made(trade.path, trade.body(party, **at))
        for path in (trade.of(void, "void"), trade.of_credit(credit, "void")):
            assert dutch.api.post(path, json={"voided_at": "2025-03-12T23:30:00Z"}).is_success
        written_off = {"id": given["write_offs"][0]["id"]}
        days = [on for each in (document, written_off) for on, _ in books.postings(each)]
        assert days == [NEXT_DAY] * 2
        for each in (credit, void):
            assert [on for on, _ in books.postings(each)] == [NEXT_DAY, "2025-03-13"]
        self.nothing_moves(dutch, books)

    def test_refunds_and_payouts(self, dutch: Business, books: Ledger) -> None:
        buyer = dutch.customer()
        payment = payouts.by_card(dutch, buyer, 1_000)
        card = {"method": "CREDIT_CARD", "processor": "stripe"}
        refund = dutch.made(*refunding(payment, amount_cents=200, completed_at=LATE, **card)[1:])
        [paid_back] = refund["refund_payments"]
        payout = payouts.paid_out(dutch, 800, payment, paid_back, completed_at=LATE)
        for each in (refund, paid_back, payout):
            assert {on for on, _ in books.postings(each)} == {NEXT_DAY}
        owed = dutch.made(*refunding(payouts.by_card(dutch, buyer), amount_cents=50)[1:])
        assert dutch.api.request(*cancelling_refund(owed)[:2]).is_success
        self.nothing_moves(dutch, books)

    def test_openings(self, dutch: Business, books: Ledger) -> None:
        buyer, vendor = dutch.customer(), dutch.vendor()
        opening = openings.opened(dutch, **openings.all_open(buyer, vendor))
        invoice = dutch.api.get(f"invoices/?customer_id={buyer['id']}").json()["results"][0]
        assert invoice["sent_at"] == f"{start_of(day(openings.BEFORE), 'Europe/Amsterdam'):{FORM}}"
        openings.reversed_(dutch, opening, "2025-02-10")
        assert [on for on, _ in books.postings(opening)] == [openings.DAY, "2025-02-10"]
        self.nothing_moves(dutch, books)

    def nothing_moves(self, shop: Business, books: Ledger) -> None:
        """Change the time zone, and prove that the books hold and desire what is posted."""
        posted = books.entries()
        for timezone in (*FAR, "UTC"):
            assert change(shop, timezone=timezone).is_success
            books.audit()
        assert books.entries() == posted


FORM = "%Y-%m-%dT%H:%M:%SZ"


def day(text: str) -> Any:
    return datetime.fromisoformat(text).replace(tzinfo=UTC, hour=12).date()


@pytest.mark.parametrize("timezone", [*FAR, "Europe/Amsterdam", "UTC"])
@BOTH_SIDES
class TestToday:
    """Lists, statuses and agings have one today, which is the business's."""

    def test_overdue_lists_statuses_and_agings_agree(
        self, acme: Partner, trade: Trade, timezone: str
    ) -> None:
        shop = acme.business(timezone=timezone)
        party = trade.somebody(shop)
        begins = start_of(day_of(clock.now(), timezone), timezone)
        due = {
            "late": begins - timedelta(seconds=1),
            "today": begins,
            "in a month": begins + timedelta(days=30),
            "a month late": start_of(day_of(begins, timezone) - timedelta(days=30), timezone)
            - timedelta(seconds=1),
        }
        made = {
            name: trade.open(shop, party, 100, due_at=f"{at:{FORM}}") for name, at in due.items()
        }
        overdue = {made["late"]["id"], made["a month late"]["id"]}
        shown = {each["id"]: each for each in listed(shop, trade)}
        assert {id_ for id_, each in shown.items() if each["is_overdue"]} == overdue
        assert {id_ for id_, each in shown.items() if each["status"] == "overdue"} == overdue
        for asked in ({"status": "overdue"}, {"is_overdue": "true"}):
            assert {each["id"] for each in listed(shop, trade, **asked)} == overdue
        timely = {each["id"] for each in listed(shop, trade, is_overdue="false")}
        assert timely == shown.keys() - overdue
        aging = shop.api.get(f"insights/{'ar' if trade.sells else 'ap'}-aging/").json()
        buckets = aging["total_aging_buckets"]
        assert aging["as_of_date"] == f"{day_of(clock.now(), timezone)}"
        names = ("current", "days_1_30", "days_31_60")
        assert [buckets[name] for name in names] == [200, 100, 100]

    def test_reports_end_today(self, acme: Partner, trade: Trade, timezone: str) -> None:
        shop = acme.business(timezone=timezone)
        party = trade.somebody(shop)
        today = f"{day_of(clock.now(), timezone)}"
        statement = shop.api.get(trade.of_party(party, "statement")).json()
        assert statement["end_date"] == today
        for name in ("profit-and-loss", "balance-sheet", "trial-balance"):
            report = shop.api.get(f"reports/{name}/").json()
            assert today in (report.get("end_date"), report.get("as_of_date"))

    def test_what_happens_without_a_day_is_posted_today(
        self, acme: Partner, api_server: ApiServer, trade: Trade, timezone: str
    ) -> None:
        shop = acme.business(timezone=timezone)
        payment = trade.pay(shop, trade.somebody(shop), 100)
        trade.change(shop, payment, status="failed")
        today = f"{day_of(clock.now(), timezone)}"
        assert [on for on, _ in Ledger(api_server, shop).postings(payment)][1] == today


def listed(shop: Business, trade: Trade, **asked: Any) -> list[Record]:
    found: list[Record] = shop.api.get(trade.path, params=asked).json()["results"]
    return found


class TestSuggestMatches:
    def test_a_payout_of_the_evening_is_near_the_line_of_the_next_day(
        self, dutch: Business, books: Ledger
    ) -> None:
        payment = payouts.by_card(dutch, dutch.customer(), 700)
        payout = payouts.paid_out(dutch, 700, payment, completed_at=LATE)
        bank = Bank(dutch, open_account(dutch))
        [found] = bank.suggested(bank.line(700, date=NEXT_DAY))
        assert found["target_id"] == payout["id"]
