"""Lists of invoices and bills, and single documents: fields, filters, order and pages."""

from datetime import timedelta
from typing import Any

import pytest

from tests.builders.sales import refunded, written_off
from tests.builders.trade import NOBODY, PAID, PURCHASES, SALES, Record, Trade, line
from tests.clock import today
from tests.handlers.trade.named_records import NamedRecords
from tests.handlers.trade.side import Side
from tests.partner import Business

LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
OF_SALES = {"partially_written_off", "written_off", "refunded"}
STATUSES = {"draft", "{opened}", "partially_paid", "overdue", "paid", "voided"} | OF_SALES


@pytest.fixture(scope="class")
def documents(request: pytest.FixtureRequest, own_shop: Business) -> NamedRecords:
    """A document in every status; no bill is refunded or written off."""
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
    return NamedRecords(own_shop, trade.path, made)


class Listing:
    """list_invoices and list_bills; braces contain a word of the trade."""

    def test_the_status_shown_is_the_status_filtered_by(
        self, documents: NamedRecords, trade: Trade
    ) -> None:
        shown = {row["id"]: row["status"] for row in documents.rows()}
        assert shown == {record["id"]: name for name, record in documents.records.items()}
        for name, record in documents.records.items():
            assert documents.names(status=name) == [name]
            assert trade.read(documents.shop, record)["status"] == name

    def test_issued_stands_for_what_is_owed(self, documents: NamedRecords, trade: Trade) -> None:
        owed = {trade.opened, "overdue", "partially_paid", "partially_written_off"}
        expected = {"draft", *owed} & documents.records.keys()
        assert set(documents.names(status="issued,draft")) == expected

    @pytest.mark.parametrize("walk", ["page", "cursor"])
    def test_pages_over_several_statuses_keep_the_order_of_the_list(
        self, documents: NamedRecords, trade: Trade, walk: str
    ) -> None:
        names = ("draft", trade.opened, "overdue", "paid", "voided")
        walked = []
        place: dict[str, Any] = {}
        for number in (2, 3, 4):
            page = documents.page(status=",".join(names), page_size=2, **place)
            walked += page["results"]
            following = page["page_info"]["next_cursor"]
            place = {walk: number if walk == "page" else following}
        assert following is None
        assert walked == [row for row in documents.rows() if row["status"] in names]

    def test_overdue_is_shown_and_filtered_alike(self, documents: NamedRecords) -> None:
        late = {"overdue", "partially_written_off"} & documents.records.keys()
        assert set(documents.names(is_overdue=True)) == late
        assert set(documents.names(is_overdue=False)) == documents.records.keys() - late
        assert not any(row["is_overdue"] for row in documents.rows(is_overdue=False))

    @pytest.mark.parametrize(
        ("query", "names"),
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
        self, documents: NamedRecords, trade: Trade, query: Record, names: set[str]
    ) -> None:
        words = {**trade.words, "later": trade.at.replace(":00Z", ":01Z")}
        given = {name.format(**words): str(value).format(**words) for name, value in query.items()}
        expected = {name.format(**words) for name in names} & documents.records.keys()
        assert set(documents.names(**given)) == expected

    def test_its_own_number_is_searched_too(self, documents: NamedRecords, trade: Trade) -> None:
        number = documents.records["paid"][trade.number]
        assert documents.names(search=number.lower()) == ["paid"]

    def test_a_filter_takes_a_list_of_parties(self, documents: NamedRecords, trade: Trade) -> None:
        field = f"{trade.party}_id"
        one, other = (documents.records[name][field] for name in ("paid", "overdue"))
        assert set(documents.names(**{field: f"{one},{other}"})) == documents.records.keys()
        assert documents.names(**{field: other}) == ["overdue"]

    @pytest.mark.parametrize(
        "sort", ["{moment}", "due_at", "created_at", "total_amount", "{number}"]
    )
    @pytest.mark.parametrize("down", ["", "-"])
    def test_cursors_walk_every_sort_in_the_order_of_the_whole_list(
        self, documents: NamedRecords, trade: Trade, sort: str, down: str
    ) -> None:
        sort = trade.named(sort)
        whole = documents.rows(sort=down + sort)
        keys = [(row[sort] is not None, row[sort] or "", row["id"]) for row in whole]
        assert keys == sorted(keys, reverse=bool(down))
        walked: list[Record] = []
        place: Record | None = {}
        while place is not None:
            page = documents.page(page_size=2, sort=down + sort, **place)
            walked += page["results"]
            following = page["page_info"]["next_cursor"]
            place = {"cursor": following} if following else None
        assert walked == whole

    def test_the_latest_comes_first_and_drafts_last(self, documents: NamedRecords) -> None:
        assert documents.names()[-1] == "draft"

    def test_a_list_shows_no_lines(self, documents: NamedRecords, trade: Trade) -> None:
        [shown] = documents.rows(status="paid")
        whole = trade.read(documents.shop, shown)
        assert shown == {name: whole[name] for name in shown}
        assert "line_items" not in shown

    def test_a_cursor_belongs_to_its_sort(self, documents: NamedRecords) -> None:
        cursor = documents.page(page_size=1, sort="due_at")["page_info"]["next_cursor"]
        query = {"cursor": cursor, "sort": "-due_at"}
        assert documents.shop.api.get(documents.path, params=query).status_code == 400


class TestListInvoices(Listing):
    trade = SALES


class TestListBills(Listing):
    trade = PURCHASES

    def test_filters_by_vendor_number_and_refunded_select_bills(
        self, documents: NamedRecords
    ) -> None:
        assert documents.names(search="gbi-22-1") == ["received"]
        assert documents.names(status="refunded") == []


class SingleRead:
    """get_invoice and get_bill."""

    def test_its_etag_is_its_version(self, side: Side) -> None:
        made = side.open()
        assert side.api.get(side.trade.of(made)).headers["etag"] == '"1"'
        side.pay(10, side.trade.part(made, 10))
        assert side.api.get(side.trade.of(made)).headers["etag"] == '"2"'

    def test_a_document_shows_its_payments_by_their_dates(self, side: Side) -> None:
        document = side.open(900)
        later = side.pay(300, side.trade.part(document, 200), payment_date="2025-03-12")
        first = side.pay(100, side.trade.part(document, 100), payment_date="2025-03-11")
        waiting = side.pay(50, side.trade.part(document, 50), status="pending")
        shown = side.read(document)
        payment_id = "payment_id" if side.trade is SALES else "bill_payment_id"
        assert shown[side.trade.payment_allocations] == [
            {
                **{payment_id: payment["id"], "payment_date": payment["payment_date"]},
                **{"payment_method": "bank_transfer", "amount_cents": amount},
                **{"payment_amount_cents": amount, "exchange_difference_cents": 0},
            }
            for payment, amount in ((waiting, 50), (first, 100), (later, 200))
        ]
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 600)


class TestGetInvoice(SingleRead):
    trade = SALES


class TestGetBill(SingleRead):
    trade = PURCHASES

    def test_a_credit_counts_from_the_bills_own_date(self, side: Side) -> None:
        bill = side.open(100, bill_date="2025-03-20")
        credit = side.credit(100, side.trade.share(bill, 100))
        [shown] = side.read(bill)["vendor_credit_allocations"]
        assert shown["applied_at"] == credit["allocations"][0]["applied_at"]
        assert shown["applied_at"] == "2025-03-20T00:00:00Z"

    def test_its_status_follows_what_settles_it(self, side: Side) -> None:
        bill = side.open(900, due_at=LATER)
        credit = side.credit(400, side.trade.share(bill, 400))
        assert side.status_of(bill) == ("partially_paid", 500)
        payment = side.pay(500, side.trade.part(bill, 500))
        assert side.status_of(bill) == ("paid", 0)
        assert side.read(bill)["paid_at"] == f"{PAID}T00:00:00Z"
        side.change(payment, status="failed")
        assert side.status_of(bill) == ("partially_paid", 500)
        assert side.read(bill)["paid_at"] is None
        side.api.put(side.trade.of_credit(credit), json={"allocations": []})
        assert side.status_of(bill) == ("received", 900)

    def test_an_invoice_is_no_bill(self, side: Side) -> None:
        invoice = SALES.open(side.shop, SALES.somebody(side.shop))
        answer = side.api.get(side.trade.of(invoice))
        assert (answer.status_code, answer.json()["error_code"]) == (404, "bill_not_found")
