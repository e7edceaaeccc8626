"""list_customer_credits and get_customer_credit: what is shown, filtered, sorted and paged."""

from datetime import timedelta
from typing import Any

import pytest

from tests.builders.sales import credit_body, credited, paid, part, sent, share
from tests.builders.trade import NOBODY, Record
from tests.clock import today
from tests.partner import Business, Partner

CREDITS = "customer-credits/"
LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
STATUSES = ("draft", "sent", "partially_applied", "applied", "void")


@pytest.fixture(scope="module")
def drawer(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def every_status(drawer: Business) -> dict[str, Record]:
    """One credit in every status, the oldest moment of sending on the void one."""
    buyer = drawer.customer(company_name="Tall Ship", external_id="tall-ship")
    other = drawer.made("customers/", {"individual_name": "Ann Boat"})
    invoice, second = sent(drawer, buyer, 900), sent(drawer, other, 500)
    made = {
        "draft": drawer.made(CREDITS, credit_body(buyer, {"amount": 100}, memo="Harbour dues")),
        "sent": credited(
            drawer, buyer, 200, external_id="fifty_%", source_invoice_id=invoice["id"]
        ),
        "partially_applied": credited(
            drawer, buyer, 300, share(invoice, 250), sent_at="2025-03-06T00:00:00Z"
        ),
        "applied": credited(
            drawer, other, 400, share(second, 400), sent_at="2025-03-07T12:00:00+02:00"
        ),
        "void": credited(
            drawer, other, 400, sent_at="2025-03-04T00:00:00Z", credit_note_number="Nota/7"
        ),
    }
    voided = drawer.api.post(f"{CREDITS}{made['void']['id']}/void/")
    assert voided.status_code == 200, voided.text
    return {**made, "void": voided.json()}


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["results"]]


def found(drawer: Business, every_status: dict[str, Record], **filters: Any) -> set[str]:
    names = {record["id"]: name for name, record in every_status.items()}
    answer = drawer.api.get(CREDITS, params=filters)
    listed = {names[id_] for id_ in ids(answer)}
    assert answer.json()["count"] == len(listed)
    return listed


class TestListCustomerCredits:
    def test_the_status_shown_is_the_status_filtered_by(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        everything = drawer.api.get(CREDITS).json()["results"]
        shown = {each["id"]: each["status"] for each in everything}
        assert shown == {record["id"]: name for name, record in every_status.items()}
        for name in STATUSES:
            assert found(drawer, every_status, status=name) == {name}
        assert found(drawer, every_status, status="applied,draft") == {"applied", "draft"}
        assert found(drawer, every_status, status=",".join(STATUSES)) == set(STATUSES)

    def test_a_list_shows_what_a_single_read_shows(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        for shown in drawer.api.get(CREDITS).json()["results"]:
            assert drawer.api.get(f"{CREDITS}{shown['id']}/").json() == shown
            assert shown["line_items"]

    @pytest.mark.parametrize(
        ("filters", "names"),
        [
            ({"sent_at_start": "2025-03-05T09:00:00Z"},
             {"sent", "partially_applied", "applied"}),
            ({"sent_at_start": "2025-03-05T09:00:01Z"}, {"partially_applied", "applied"}),
            ({"sent_at_end": "2025-03-05T09:00:00Z"}, {"void", "sent"}),
            ({"sent_at_end": "2025-03-05T08:59:59Z"}, {"void"}),
            ({"sent_at_start": "2025-03-07T10:00:00Z", "sent_at_end": "2025-03-07T10:00:00Z"},
             {"applied"}),
            ({"sent_at_start": "2000-01-01T00:00:00Z"}, set(STATUSES) - {"draft"}),
            ({"sent_at_end": LATER}, set(STATUSES) - {"draft"}),
            ({"external_id": "fifty_%"}, {"sent"}),
            ({"external_id": "fifty"}, set()),
            ({"customer_external_id": "tall-ship"}, {"draft", "sent", "partially_applied"}),
            ({"customer_external_id": "tall"}, set()),
            ({"search": "FTY_%"}, {"sent"}),
            ({"search": "fifty.%"}, set()),
            ({"search": "ota/7"}, {"void"}),
            ({"search": "cn-00000"}, {"sent", "partially_applied", "applied"}),
            ({"search": "harbour"}, {"draft"}),
            ({"search": "ALL SH"}, {"draft", "sent", "partially_applied"}),
            ({"search": "ann"}, {"applied", "void"}),
            ({"search": "nothing of it"}, set()),
            ({"customer_id": NOBODY}, set()),
            ({"source_invoice_id": NOBODY}, set()),
            ({"created_at_gte": LATER}, set()),
            ({"created_at_lte": LATER}, set(STATUSES)),
            ({"updated_since": LATER}, set()),
            ({"updated_since": "2020-01-01T00:00:00Z", "status": "void"}, {"void"}),
            ({"status": "sent,void", "search": "ann"}, {"void"}),
        ],
    )  # fmt: skip
    def test_filters_take_what_fits(
        self,
        drawer: Business,
        every_status: dict[str, Record],
        filters: Record,
        names: set[str],
    ) -> None:
        assert found(drawer, every_status, **filters) == names

    def test_they_are_found_by_customers_and_by_the_invoice_they_come_from(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        own, other = (every_status[name]["customer_id"] for name in ("draft", "void"))
        assert found(drawer, every_status, customer_id=own) == {
            "draft",
            "sent",
            "partially_applied",
        }
        assert found(drawer, every_status, customer_id=f"{own},{other}") == set(STATUSES)
        assert found(drawer, every_status, customer_id=f"{NOBODY},{other}") == {"applied", "void"}
        source = every_status["sent"]["source_invoice_id"]
        assert found(drawer, every_status, source_invoice_id=source) == {"sent"}
        # Settling an invoice is not coming from it.
        settled = every_status["applied"]["allocations"][0]["invoice_id"]
        assert found(drawer, every_status, source_invoice_id=settled) == set()

    @pytest.mark.parametrize(
        "sort", ["sent_at", "created_at", "total_amount", "credit_note_number"]
    )
    @pytest.mark.parametrize("down", [False, True])
    def test_every_order_is_the_same_by_number_and_by_cursor(
        self, drawer: Business, every_status: dict[str, Record], sort: str, down: bool
    ) -> None:
        asked = {"sort": f"-{sort}" if down else sort}
        whole = drawer.api.get(CREDITS, params=asked).json()["results"]
        keys = [(each[sort] is not None, each[sort] or "", each["id"]) for each in whole]
        assert keys == sorted(keys, reverse=down)
        assert len(keys) == len(STATUSES)
        by_number = [
            each
            for page in (1, 2, 3)
            for each in drawer.api.get(
                CREDITS, params={**asked, "page_size": 2, "page": page}
            ).json()["results"]
        ]
        walked, cursor = [], {}
        while len(walked) < len(whole):
            page = drawer.api.get(CREDITS, params={**asked, "page_size": 2, **cursor}).json()
            walked += page["results"]
            cursor = {"cursor": page["page_info"]["next_cursor"]}
        assert walked == by_number == whole
        assert cursor == {"cursor": None}

    def test_the_latest_sent_comes_first_and_drafts_last(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        order = ("applied", "partially_applied", "sent", "void", "draft")
        assert ids(drawer.api.get(CREDITS)) == [every_status[name]["id"] for name in order]

    def test_a_page_tells_where_it_stands(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        whole = drawer.api.get(CREDITS).json()
        assert whole["page_info"] == {
            "total_count": 5,
            "current_page": 1,
            "total_pages": 1,
            "page_size": 20,
            "next_cursor": None,
        }
        page = drawer.api.get(CREDITS, params={"page": 2, "page_size": 2}).json()
        assert (page["count"], page["page_info"]["total_pages"]) == (5, 3)
        after, before = (
            drawer.api.get(f"{drawer.partner.url}{page[each]}").json()
            for each in ("next", "previous")
        )
        both = [*before["results"], *page["results"], *after["results"]]
        assert both == whole["results"]
        past = drawer.api.get(CREDITS, params={"page": 9}).json()
        assert (past["results"], past["count"], past["next"]) == ([], 5, None)
        uncounted = drawer.api.get(CREDITS, params={"count": False}).json()
        assert (uncounted["count"], len(uncounted["results"])) == (None, 5)

    @pytest.mark.parametrize(
        "asked",
        [
            "status=open",
            "status=",
            "sort=memo",
            "page=0",
            "page_size=0",
            "page_size=101",
            "customer_id=x",
            f"customer_id={','.join([NOBODY] * 101)}",
            "source_invoice_id=x",
            "sent_at_start=2025-03-05",
            "sent_at_end=soon",
            "search=",
            "cursor=abc",
            "status=sent&status=void",
            "colour=blue",
        ],
    )
    def test_it_refuses_what_it_does_not_know(self, drawer: Business, asked: str) -> None:
        answer = drawer.api.get(f"{CREDITS}?{asked}")
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        [field] = answer.json()["detail"]["field_errors"]
        assert field.startswith(asked.partition("=")[0])

    def test_a_cursor_belongs_to_its_sort(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        page = drawer.api.get(CREDITS, params={"page_size": 1, "sort": "total_amount"}).json()
        asked = {"cursor": page["page_info"]["next_cursor"], "sort": "-total_amount"}
        assert drawer.api.get(CREDITS, params=asked).status_code == 400

    def test_what_was_released_is_no_longer_shown(self, drawer: Business) -> None:
        shop = drawer.partner.business()
        buyer = shop.customer()
        credit = credited(shop, buyer, 9, share(sent(shop, buyer), 9))
        shop.api.put(f"{CREDITS}{credit['id']}/", json={"allocations": []})
        [shown] = shop.api.get(CREDITS).json()["results"]
        assert (shown["status"], shown["allocations"], shown["applied_amount"]) == ("sent", [], 0)

    def test_those_of_another_business_are_not_there(self, acme: Partner) -> None:
        assert ids(acme.business().api.get(CREDITS)) == []


class TestGetCustomerCredit:
    def test_it_shows_the_invoice_as_it_is_now(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer, 1_000)
        credit = credited(shop, buyer, 300, share(invoice, 300))
        assert credit["allocations"][0]["invoice_outstanding_balance_cents"] == 700
        paid(shop, buyer, 600, part(invoice, 600))
        read = shop.api.get(f"{CREDITS}{credit['id']}/")
        [allocation] = read.json()["allocations"]
        assert allocation["invoice_outstanding_balance_cents"] == 100
        # The credit itself did not change.
        assert read.headers["etag"] == '"1"'
        assert read.json()["updated_at"] == credit["updated_at"]

    def test_its_etag_is_its_version(self, shop: Business, buyer: Record) -> None:
        path = f"{CREDITS}{credited(shop, buyer, 9)['id']}/"
        assert shop.api.get(path).headers["etag"] == '"1"'
        shop.api.put(path, json={"memo": "new"})
        assert shop.api.get(path).headers["etag"] == '"2"'

    def test_one_of_another_business_is_not_there(self, shop: Business, rival: Partner) -> None:
        elsewhere = rival.business()
        foreign = credited(elsewhere, elsewhere.customer(), 9)
        for id_ in (foreign["id"], NOBODY):
            answer = shop.api.get(f"{CREDITS}{id_}/")
            assert answer.status_code == 404
            assert answer.json()["error_code"] == "customer_credit_not_found"
