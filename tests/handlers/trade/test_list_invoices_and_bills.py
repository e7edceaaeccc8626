"""The lists of invoices and bills, and one of each: what is shown, filtered, sorted and paged."""

from datetime import timedelta
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    CREDITS,
    PAYMENTS,
    bill_paid,
    received,
    share,
    status_of,
    vendor_credited,
)
from tests.builders.purchases import part as bill_part
from tests.builders.sales import paid, part, refunded, sent, written_off
from tests.builders.trade import NOBODY, PAID, PURCHASES, SALES, Record, Trade, line, read
from tests.clock import today
from tests.partner import Business

LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
OF_SALES = {"partially_written_off", "written_off", "refunded"}
STATUSES = {"draft", "{opened}", "partially_paid", "overdue", "paid", "voided"} | OF_SALES
Statuses = dict[str, Record]


@pytest.fixture(scope="class")
def every_status(request: pytest.FixtureRequest, own_shop: Business) -> Statuses:
    """One document in every status; no bill is refunded, and none can be written off."""
    trade: Trade = request.cls.trade
    other = trade.somebody(own_shop, company_name="Small Boat")
    one = trade.somebody(own_shop, company_name="Tall Ship", external_id="tall-ship")

    def opened(total: int, **facts: Any) -> Record:
        return trade.open(own_shop, one, total, **facts)

    def settled(total: int, amount: int, **facts: Any) -> Record:
        made = opened(total, **facts)
        trade.pay(own_shop, one, amount, trade.part(made, amount))
        return made

    made = {
        "draft": own_shop.made(trade.path, trade.body(one, line(100), memo="Harbour dues")),
        trade.opened: opened(200, external_id="fifty_five%", **trade.numbered("GBI-22")),
        "partially_paid": settled(300, 100, due_at=LATER),
        "overdue": trade.open(own_shop, other, 400, due_at="2025-03-20T00:00:00Z"),
        "paid": settled(600, 600),
        "voided": opened(900, due_at="2025-03-22T00:00:00Z"),
    }
    own_shop.api.post(trade.of(made["voided"], "void"))
    if trade is SALES:
        made["partially_written_off"] = opened(500, due_at="2025-03-21T00:00:00Z")
        made["written_off"], made["refunded"] = opened(700), settled(800, 800)
        written_off(own_shop, made["partially_written_off"], amount_cents=50)
        written_off(own_shop, made["written_off"])
        refunded(own_shop, made["refunded"])
    return made


def listed(own_shop: Business, trade: Trade, **asked: Any) -> list[Record]:
    answer = own_shop.api.get(trade.path, params={"page_size": 100, **asked})
    assert answer.status_code == 200, answer.text
    found: list[Record] = answer.json()["results"]
    return found


def ids(own_shop: Business, trade: Trade, **asked: Any) -> list[str]:
    return [each["id"] for each in listed(own_shop, trade, **asked)]


class Listing:
    """list_invoices and list_bills; what is in braces is a word of the trade."""

    def test_the_status_shown_is_the_status_filtered_by(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        shown = {each["id"]: each["status"] for each in listed(own_shop, trade)}
        assert shown == {record["id"]: name for name, record in every_status.items()}
        for name, record in every_status.items():
            assert ids(own_shop, trade, status=name) == [record["id"]]
            assert trade.read(own_shop, record)["status"] == name

    def test_issued_stands_for_what_is_owed(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        found = ids(own_shop, trade, status="issued,draft")
        names = {"draft", trade.opened, "overdue", "partially_paid", "partially_written_off"}
        assert set(found) == {every_status[name]["id"] for name in names & every_status.keys()}

    @pytest.mark.parametrize("walk", ["page", "cursor"])
    def test_pages_over_several_statuses_keep_the_order_of_the_list(
        self, own_shop: Business, trade: Trade, every_status: Statuses, walk: str
    ) -> None:
        names = ("draft", trade.opened, "overdue", "paid", "voided")
        picked = {every_status[name]["id"] for name in names}
        whole = [each for each in ids(own_shop, trade) if each in picked]
        found = list[str]()
        place: dict[str, Any] = {"page": 1, "cursor": None}
        while place["page"] == 1 or place["cursor"]:
            turn = {walk: place[walk]} if place["cursor"] else {}
            asked = {"status": ",".join(names), "page_size": 2, **turn}
            answer = own_shop.api.get(trade.path, params=asked).json()
            found += [each["id"] for each in answer["results"]]
            place = {"page": place["page"] + 1, "cursor": answer["page_info"]["next_cursor"]}
        assert found == whole

    def test_overdue_is_shown_and_filtered_alike(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        names = {"overdue", "partially_written_off"} & every_status.keys()
        late = {every_status[name]["id"] for name in names}
        assert set(ids(own_shop, trade, is_overdue=True)) == late
        rest = listed(own_shop, trade, is_overdue=False)
        assert {each["id"] for each in rest} == {r["id"] for r in every_status.values()} - late
        assert not any(each["is_overdue"] for each in rest)

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({"status": "overdue,paid", "is_overdue": "true"}, {"overdue"}),
            ({"status": "overdue,paid", "is_overdue": "false"}, {"paid"}),
            ({"status": "draft", "is_overdue": "true"}, set()),
            ({"status": "paid,paid,{opened}"}, {"paid", "{opened}"}),
            ({"min_amount": 300, "max_amount": 400}, {"partially_paid", "overdue"}),
            ({"min_amount": 500, "max_amount": 600}, {"partially_written_off", "paid"}),
            ({"due_at_from": "2025-03-21T00:00:00Z", "due_at_to": LATER},
             {"partially_written_off", "voided", "partially_paid"}),
            ({"due_at_to": "2025-03-20T00:00:00Z"}, {"overdue"}),
            ({"{moment}_from": "{later}"}, set()),
            ({"{moment}_from": "{at}", "{moment}_to": "{at}"}, STATUSES - {"draft"}),
            ({"memo_contains": "harbour"}, {"draft"}),
            ({"search": "small b"}, {"overdue"}),
            ({"search": "FIFTY_FIVE%"}, {"{opened}"}),
            ({"search": "fifty.five"}, set()),
            ({"search": "f%five"}, set()),
            ({"external_id": "fifty_five%"}, {"{opened}"}),
            ({"external_id": "fifty"}, set()),
            ({"{party}_external_id": "tall-ship"}, STATUSES - {"overdue"}),
            ({"{party}_id": NOBODY}, set()),
            ({"created_at_from": LATER}, set()),
            ({"created_at_to": LATER}, STATUSES),
            ({"updated_at_from": LATER}, set()),
            ({"updated_at_from": "2025-01-01T00:00:00Z", "min_amount": 900}, {"voided"}),
        ],
    )  # fmt: skip
    def test_filters_select_documents(
        self,
        own_shop: Business,
        trade: Trade,
        every_status: Statuses,
        asked: Record,
        names: set[str],
    ) -> None:
        words = {**trade.words, "later": trade.at.replace(":00Z", ":01Z")}
        given = {name.format(**words): str(value).format(**words) for name, value in asked.items()}
        wanted = {name.format(**words) for name in names} & every_status.keys()
        answer = own_shop.api.get(trade.path, params=given).json()
        assert {each["id"] for each in answer["results"]} == {
            every_status[name]["id"] for name in wanted
        }
        assert answer["count"] == len(wanted)

    def test_its_own_number_is_searched_too(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        paid_one = every_status["paid"]
        found = ids(own_shop, trade, search=paid_one[trade.number].lower())
        assert found == [paid_one["id"]]

    def test_a_filter_takes_a_list_of_parties(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        field = f"{trade.party}_id"
        both = [every_status[name][field] for name in (trade.opened, "overdue")]
        assert len(ids(own_shop, trade, **{field: ",".join(both)})) == len(every_status)
        assert ids(own_shop, trade, **{field: both[1]}) == [every_status["overdue"]["id"]]

    @pytest.mark.parametrize(
        "sort", ["{moment}", "due_at", "created_at", "total_amount", "{number}"]
    )
    @pytest.mark.parametrize("down", [False, True])
    def test_cursors_walk_every_sort_in_the_order_of_the_whole_list(
        self, own_shop: Business, trade: Trade, every_status: Statuses, sort: str, down: bool
    ) -> None:
        sort = sort.format(**trade.words)
        asked = {"sort": ("-" if down else "") + sort}
        whole = listed(own_shop, trade, **asked)
        keys = [(each[sort] is not None, each[sort] or "", each["id"]) for each in whole]
        assert keys == sorted(keys, reverse=down)
        walked, cursor = [], None
        while True:
            page = {"page_size": 2, **asked, **({"cursor": cursor} if cursor else {})}
            answer = own_shop.api.get(trade.path, params=page).json()
            walked += answer["results"]
            cursor = answer["page_info"]["next_cursor"]
            if cursor is None:
                break
        assert walked == whole
        pages = [listed(own_shop, trade, **asked, page=page, page_size=2) for page in range(1, 6)]
        assert [each for page in pages for each in page] == whole

    def test_the_latest_comes_first_and_drafts_last(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        assert ids(own_shop, trade)[-1] == every_status["draft"]["id"]

    def test_a_list_shows_no_lines(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        [shown] = listed(own_shop, trade, status="paid")
        whole = trade.read(own_shop, every_status["paid"])
        assert shown == {name: whole[name] for name in shown}
        assert "line_items" not in shown

    @pytest.mark.parametrize(
        "asked",
        [
            *("status=open", "status=", "status=paid&status=open", "sort=memo", "colour=blue"),
            *("page=0", "page_size=101", "min_amount=-1", "is_overdue=perhaps", "cursor=abc"),
            "{party}_id=x",
        ],
    )
    def test_an_unknown_parameter_or_value_is_400(
        self, own_shop: Business, trade: Trade, asked: str
    ) -> None:
        asked = asked.format(**trade.words)
        answer = own_shop.api.get(f"{trade.path}?{asked}")
        assert answer.status_code == 400
        [field] = answer.json()["detail"]["field_errors"]
        assert field.startswith(asked.partition("=")[0])

    def test_a_cursor_belongs_to_its_sort(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        page = own_shop.api.get(f"{trade.path}?page_size=1&sort=due_at").json()
        cursor = page["page_info"]["next_cursor"]
        answer = own_shop.api.get(trade.path, params={"cursor": cursor, "sort": "-due_at"})
        assert answer.status_code == 400


class TestListInvoices(Listing):
    trade = SALES

    def test_a_page_tells_where_it_stands(self, own_shop: Business, every_status: Statuses) -> None:
        asked = {"page": 2, "page_size": 4, "sort": "total_amount", "max_amount": 900}
        page = own_shop.api.get("invoices/", params=asked).json()
        assert page["count"] == 9
        assert {**page["page_info"], "next_cursor": None} == {
            "total_count": 9,
            "current_page": 2,
            "total_pages": 3,
            "page_size": 4,
            "next_cursor": None,
        }
        after, before = (
            own_shop.api.get(f"{own_shop.partner.url}{page[each]}").json()
            for each in ("next", "previous")
        )
        assert [each["total_amount"] for each in after["results"]] == [900]
        assert [each["total_amount"] for each in before["results"]] == [100, 200, 300, 400]
        assert (after["next"], before["previous"]) == (None, None)
        past = own_shop.api.get("invoices/", params={"page": 99}).json()
        assert (past["results"], past["count"], past["next"]) == ([], 9, None)
        uncounted = own_shop.api.get("invoices/", params={"count": False, "page_size": 2}).json()
        assert (uncounted["count"], uncounted["page_info"]["total_pages"]) == (None, None)
        assert uncounted["page_info"]["next_cursor"] is not None


class TestListBills(Listing):
    trade = PURCHASES

    @pytest.mark.parametrize(
        ("asked", "names"),
        [({"search": "gbi-22-1"}, {"received"}), ({"status": "refunded"}, set())],
    )
    def test_filters_by_vendor_number_and_refunded_select_bills(
        self, own_shop: Business, every_status: Statuses, asked: Record, names: set[str]
    ) -> None:
        found = ids(own_shop, PURCHASES, **asked)
        assert set(found) == {every_status[name]["id"] for name in names}

    @pytest.mark.parametrize(
        "asked",
        [
            *("status=sent", "sort=sent_at", "customer_id=x"),
            "sent_at_from=2025-03-01T00:00:00Z",
        ],
    )
    def test_parameters_of_sales_are_400(self, own_shop: Business, asked: str) -> None:
        answer = own_shop.api.get(f"{BILLS}?{asked}")
        assert answer.status_code == 400
        [field] = answer.json()["detail"]["field_errors"]
        assert field.startswith(asked.partition("=")[0])


class Getting:
    """get_invoice and get_bill."""

    def test_its_etag_is_its_version(self, shop: Business, trade: Trade, party: Record) -> None:
        made = trade.open(shop, party)
        assert shop.api.get(trade.of(made)).headers["etag"] == '"1"'
        trade.pay(shop, party, 10, trade.part(made, 10))
        assert shop.api.get(trade.of(made)).headers["etag"] == '"2"'


class TestGetInvoice(Getting):
    trade = SALES

    def test_an_invoice_shows_its_payments(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 900)
        later = paid(shop, buyer, 300, part(invoice, 200), payment_date="2025-03-12")
        first = paid(shop, buyer, 100, part(invoice, 100), payment_date="2025-03-11")
        waiting = paid(shop, buyer, 50, part(invoice, 50), status="pending")
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert [
            (each["payment_id"], each["amount_cents"]) for each in shown["payment_allocations"]
        ] == [(waiting["id"], 50), (first["id"], 100), (later["id"], 200)]
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 600)
        assert shown["credit_allocations"] == shown["refund_allocations"] == []
        assert shown["write_offs"] == []


class TestGetBill(Getting):
    trade = PURCHASES

    def test_a_bill_shows_its_payments(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 900)
        later = bill_paid(shop, vendor, 300, bill_part(bill, 200), payment_date="2025-03-12")
        first = bill_paid(shop, vendor, 100, bill_part(bill, 100), payment_date="2025-03-11")
        waiting = bill_paid(shop, vendor, 50, bill_part(bill, 50), status="pending")
        credit = vendor_credited(shop, vendor, 70, share(bill, 70))
        shown = read(shop, BILLS, bill)
        assert shown["bill_payment_allocations"] == [
            {
                "bill_payment_id": payment["id"],
                "payment_date": day,
                "payment_method": "bank_transfer",
                "amount_cents": amount,
            }
            for payment, day, amount in (
                (waiting, PAID, 50),
                (first, "2025-03-11", 100),
                (later, "2025-03-12", 200),
            )
        ]
        assert shown["vendor_credit_allocations"] == [
            {
                "vendor_credit_id": credit["id"],
                "applied_at": "2025-03-05T00:00:00Z",
                "amount_cents": 70,
            }
        ]
        assert shown["vendor_refund_allocations"] == []
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 530)

    def test_a_credit_counts_from_the_bills_own_date(self, shop: Business, vendor: Record) -> None:
        bill = received(shop, vendor, 100, bill_date="2025-03-20")
        credit = vendor_credited(shop, vendor, 100, share(bill, 100))
        [shown] = read(shop, BILLS, bill)["vendor_credit_allocations"]
        assert shown["applied_at"] == credit["allocations"][0]["applied_at"]
        assert shown["applied_at"] == "2025-03-20T00:00:00Z"

    def test_its_status_follows_what_settles_it(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 900, due_at=LATER)
        credit = vendor_credited(shop, vendor, 400, share(bill, 400))
        assert status_of(shop, bill) == ("partially_paid", 500)
        payment = bill_paid(shop, vendor, 500, bill_part(bill, 500))
        assert status_of(shop, bill) == ("paid", 0)
        assert read(shop, BILLS, bill)["paid_at"] == f"{PAID}T00:00:00Z"
        shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "failed"})
        assert status_of(shop, bill) == ("partially_paid", 500)
        assert read(shop, BILLS, bill)["paid_at"] is None
        shop.api.put(f"{CREDITS}{credit['id']}/", json={"allocations": []})
        assert status_of(shop, bill) == ("received", 900)

    def test_an_invoice_is_no_bill(self, shop: Business) -> None:
        invoice = sent(shop, shop.customer())
        answer = shop.api.get(f"{BILLS}{invoice['id']}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "bill_not_found")
