"""Pages by number and by cursor, links, counts and orders of every list."""

import base64
import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api_server import ApiServer
from tests.builders.exchange_rates import table_set
from tests.builders.openings import opened
from tests.builders.payouts import paid_out
from tests.builders.purchases import bill_paid, received, vendor_credited
from tests.builders.sales import credited, paid, refund_paid, refunded, sent
from tests.builders.vendor_refunds import agreed_refund, changed
from tests.contract import story_things
from tests.contract.document import Node, Operation, follow, operations
from tests.contract.each import each_of
from tests.contract.valid_requests import Story, lasting
from tests.in_turn import in_turn

MANY = 7
DUE_AT = "2026-01-31T12:00:00Z"
LISTS = [each for each in operations() if each.is_list]
# A filter for a list that has more than a page without it.
# One page has all that is left.
NARROWED = {
    "list_audit_records": {"object_type": "customer"},
    "list_journal_entries": {"date_to": "2026-04-30"},
}
each_list = each_of(LISTS)


@pytest.fixture(scope="module")
def crowd(api_server: ApiServer) -> Story:
    """A partner of its own with several records of each kind."""
    story = Story.begin(api_server.partner("Crowd"))
    for number in range(MANY):
        customer = story.business.customer(company_name=f"Customer {number % 3}")
        sent(story.business, customer, 100 + number % 3, due_at=DUE_AT)
        payment = paid(story.business, customer, 100 + number % 3)
        refunded(story.business, payment)
        refund_paid(story.business, {"id": story.thing("refund_id")}, amount_cents=1 + number % 3)
        credited(story.business, customer, 100 + number % 3)
        vendor = story.business.vendor(company_name=f"Vendor {number % 3}")
        received(story.business, vendor, 100 + number % 3, due_at=DUE_AT)
        bill_paid(story.business, vendor, 100 + number % 3)
        vendor_credited(story.business, vendor, 100 + number % 3)
        refund = agreed_refund(story.business, vendor, 100 + number % 3)
        changed(story.business, refund["vendor_refund_payments"][0], payment_date="2026-01-31")
        paid_out(story.business, 100 + number % 3)
        story_things.make_bank_account(story)
        story_things.bank_line(story, 100 + number)
        story_things.make_bank_rule(story)
        other = story.thing("other_bank_account_id")
        story_things.reconciled(story, other, f"2026-01-{number + 1:02}")
        story_things.make_document(story)
        story_things.make_draft_entry(story)
        story_things.make_tax_return(story)
        story_things.make_revaluation(story)
        opened(story.business, date=f"2025-0{1 + number}-01")
        story.partner.business()
        story_things.make_webhook_endpoint(story)
        for owner in (story.partner, story.business):
            table_set(owner, f"2026-01-0{1 + number}")
    story_things.make_webhook_delivery(story)
    return story


def answer_of(crowd: Story, operation: Operation, **query: str) -> httpx.Response:
    narrowed = NARROWED.get(operation.name, {})
    return crowd.client(operation).get(crowd.path(operation), params={**narrowed, **query})


def page(crowd: Story, operation: Operation, address: str = "", **query: Any) -> Any:
    query |= {} if address else NARROWED.get(operation.name, {})
    answer = crowd.client(operation).get(address or crowd.path(operation), params=query or None)
    assert answer.status_code == 200, answer.text
    return json.loads(lasting(answer.text))


def ids(pages: list[Any]) -> list[str]:
    return [row["id"] for shown in pages for row in shown["results"]]


def walked(crowd: Story, operation: Operation, by: str, **query: Any) -> list[Any]:
    """Return every page, by the link `next` or by the cursor."""
    pages = [page(crowd, operation, page_size=3, **query)]
    while True:
        following = pages[-1]["next"] if by == "next" else pages[-1]["page_info"]["next_cursor"]
        if following is None:
            return pages
        if by == "next":
            pages.append(page(crowd, operation, following))
        else:
            pages.append(page(crowd, operation, page_size=3, cursor=following, **query))


def orders(operation: Operation) -> list[str]:
    [sort] = [each for each in operation.parameters if each["name"] == "sort"]
    return [each for each in follow(sort["schema"])["enum"] if not each.startswith("-")]


def by_sort() -> list[Any]:
    return [
        pytest.param(each, sort, id=f"{each.name}-{sort}")
        for each in LISTS
        for sort in orders(each)
    ]


def cursor_of(*place: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).rstrip(b"=").decode()


class TestPages:
    @each_list
    def test_show_every_item_once_however_they_are_walked(
        self, operation: Operation, crowd: Story
    ) -> None:
        whole = page(crowd, operation, page_size=100)
        assert len(whole["results"]) == whole["count"] >= MANY
        by_number, by_cursor = (ids(walked(crowd, operation, by)) for by in ("next", "cursor"))
        assert by_number == by_cursor == ids([whole])
        assert len(set(by_number)) == len(by_number)

    @each_list
    def test_tell_where_they_stand(self, operation: Operation, crowd: Story) -> None:
        pages = walked(crowd, operation, "next")
        count = pages[0]["count"]
        for number, shown in enumerate(pages, 1):
            info = shown["page_info"]
            assert (shown["count"], info["total_count"]) == (count, count)
            assert (info["current_page"], info["page_size"]) == (number, 3)
            assert info["total_pages"] == -(-count // 3) == len(pages)
            assert (shown["previous"] is None) == (number == 1)
            assert (shown["next"] is None) == (number == len(pages))
            assert (info["next_cursor"] is None) == (number == len(pages))

    @each_list
    def test_lead_back_by_previous(self, operation: Operation, crowd: Story) -> None:
        first, second = walked(crowd, operation, "next")[:2]
        back = page(crowd, operation, second["previous"])
        assert ids([back]) == ids([first])
        # Links to documents are signed for each answer.
        assert {**back, "results": []} == {**first, "results": []}

    @each_list
    def test_by_cursor_keep_to_the_cursor_in_their_links(
        self, operation: Operation, crowd: Story
    ) -> None:
        first = page(crowd, operation, page_size=2)
        second = page(
            crowd, operation, page_size=2, cursor=first["page_info"]["next_cursor"], page=5
        )
        assert second["page_info"]["current_page"] is None
        assert second["previous"] is None
        assert ids([second]) == ids([page(crowd, operation, page_size=2, page=2)])
        third = page(crowd, operation, second["next"])
        assert ids([third]) == ids([page(crowd, operation, page_size=2, page=3)])

    @each_list
    def test_past_the_end_are_empty(self, operation: Operation, crowd: Story) -> None:
        for number in (100, 2_147_483_647):
            shown = page(crowd, operation, page=number, page_size=100)
            assert (shown["results"], shown["next"]) == ([], None)
            assert shown["count"] >= MANY
            assert shown["page_info"]["current_page"] == number

    @each_list
    def test_can_do_without_counting(self, operation: Operation, crowd: Story) -> None:
        counted = page(crowd, operation, page_size=3)
        quick = page(crowd, operation, page_size=3, count="false")
        assert quick["results"] == counted["results"]
        info = quick["page_info"]
        assert (quick["count"], info["total_count"], info["total_pages"]) == (None, None, None)
        assert info["next_cursor"] == counted["page_info"]["next_cursor"]

    @each_list
    def test_have_twenty_items_unless_told_otherwise(
        self, operation: Operation, crowd: Story
    ) -> None:
        assert page(crowd, operation)["page_info"]["page_size"] == 20

    @each_list
    def test_link_to_their_own_spelling_of_the_address_and_keep_the_filters(
        self, operation: Operation, crowd: Story
    ) -> None:
        bare = crowd.path(operation).rstrip("/")
        asked = {"page_size": 2, "created_at_from": "2020-01-01T00:00:00+00:00", "sort": ""}
        asked["sort"] = f"-{orders(operation)[0]}"
        shown = page(crowd, operation, bare, **asked)
        assert shown["next"].startswith(f"{bare}?")
        linked = dict(httpx.URL(shown["next"]).params)
        assert linked == {**{name: str(value) for name, value in asked.items()}, "page": "2"}


def old_names() -> list[Any]:
    return [
        pytest.param(each, parameter, id=f"{each.name}-{parameter['name']}")
        for each in operations()
        for parameter in each.parameters
        if parameter.get("deprecated")
    ]


each_old_name = in_turn(("operation", "parameter"), old_names())


class TestOldNames:
    @each_old_name
    def test_mean_what_the_new_ones_mean_and_say_that_they_are_old(
        self, operation: Operation, parameter: Node, crowd: Story
    ) -> None:
        shown = []
        for value in self.ends(parameter):
            old, new = (answer_of(crowd, operation, **{name: value}) for name in names(parameter))
            assert self.comparable(old) == self.comparable(new)
            assert old.headers["Deprecation"] == seconds_of(parameter)
            assert "Deprecation" not in new.headers
            shown.append(self.comparable(old))
        assert shown[0] != shown[1]

    @each_old_name
    def test_beside_new_ones_say_the_same_or_are_400(
        self, operation: Operation, parameter: Node, crowd: Story
    ) -> None:
        early, late = self.ends(parameter)
        old, new = names(parameter)
        both = answer_of(crowd, operation, **{old: early, new: early})
        alone = answer_of(crowd, operation, **{new: early})
        assert both.status_code == 200
        assert self.comparable(both) == self.comparable(alone)
        refused = answer_of(crowd, operation, **{old: early, new: late})
        assert refused.status_code == 400
        assert set(refused.json()["detail"]["field_errors"]) == {old, new}
        assert refused.headers["Deprecation"] == seconds_of(parameter)

    def comparable(self, answer: httpx.Response) -> str:
        """Return the answer without the link to the next page, which repeats the query."""
        if answer.headers["Content-Type"].startswith("text/csv"):
            return answer.text
        shown = json.loads(lasting(answer.text))
        return json.dumps({**shown, "next": None})

    def ends(self, parameter: Node) -> tuple[str, str]:
        later = "T00:00:00Z" if follow(parameter["schema"])["format"] == "date-time" else ""
        return f"2000-01-01{later}", f"2199-01-01{later}"


def names(parameter: Node) -> tuple[str, str]:
    return parameter["name"], parameter["x-deprecated"]["instead"]


def seconds_of(parameter: Node) -> str:
    since = datetime.fromisoformat(parameter["x-deprecated"]["since"]).replace(tzinfo=UTC)
    return f"@{int(since.timestamp())}"


class TestOrder:
    @in_turn(("operation", "sort"), by_sort())
    def test_descending_is_ascending_backwards(
        self, operation: Operation, sort: str, crowd: Story
    ) -> None:
        up = ids([page(crowd, operation, sort=sort, page_size=100)])
        down = ids([page(crowd, operation, sort=f"-{sort}", page_size=100)])
        assert up == down[::-1]
        assert len(up) >= MANY

    @in_turn(("operation", "sort"), by_sort())
    def test_is_total_so_that_cursors_skip_nothing_among_equals(
        self, operation: Operation, sort: str, crowd: Story
    ) -> None:
        for order in (sort, f"-{sort}"):
            by_number = ids(walked(crowd, operation, "next", sort=order))
            assert ids(walked(crowd, operation, "cursor", sort=order)) == by_number


@pytest.fixture(scope="module")
def cursors(crowd: Story) -> dict[str, str]:
    """The cursor after two items of each list."""
    shown = {each.name: page(crowd, each, page_size=2, sort=orders(each)[0]) for each in LISTS}
    return {name: each["page_info"]["next_cursor"] for name, each in shown.items()}


class TestCursor:
    @each_list
    def test_of_another_order_is_400(self, operation: Operation, crowd: Story) -> None:
        up = orders(operation)[0]
        cursor = page(crowd, operation, page_size=2, sort=up)["page_info"]["next_cursor"]
        self.refused(crowd, operation, cursor=cursor, sort=f"-{up}")

    @each_list
    def test_of_another_list_is_400(
        self, operation: Operation, crowd: Story, cursors: dict[str, str]
    ) -> None:
        for other in LISTS:
            if other is not operation and {"created_at"} <= {*orders(other), *orders(operation)}:
                given = {"cursor": cursors[other.name], "sort": orders(operation)[0]}
                assert answer_of(crowd, operation, **given).status_code == 400, other.name

    @each_list
    def test_that_was_made_up_is_400_or_finds_something_and_never_a_fault(
        self, operation: Operation, crowd: Story
    ) -> None:
        for sort in orders(operation):
            for value in (
                None, 1, 1.5, True, [], {}, "", "x", "\0", "\ud800", "infinity", "-infinity",
                "2026-01-01", "9" * 300, "1e999", "NaN", "'; DROP TABLE customer; --",
            ):  # fmt: skip
                cursor = cursor_of(sort, value, str(uuid4()))
                answer = answer_of(crowd, operation, sort=sort, cursor=cursor)
                assert answer.status_code in (200, 400)
            for place in (
                (), (sort,), (sort, "x"), (sort, "x", "x"), (sort, "x", None), (sort, "x", 5),
                ("nope", "x", str(uuid4())), (None, None, None), (sort, "x", str(uuid4()), "x"),
            ):  # fmt: skip
                self.refused(crowd, operation, sort=sort, cursor=cursor_of(*place))

    def refused(self, crowd: Story, operation: Operation, **query: str) -> None:
        answer = answer_of(crowd, operation, **query)
        assert answer.status_code == 400, answer.text
        assert list(answer.json()["detail"]["field_errors"]) == ["cursor"]


class TestMoments:
    @each_list
    def test_limit_a_list_to_what_was_made_or_changed_between(
        self, operation: Operation, crowd: Story
    ) -> None:
        rows = page(crowd, operation, page_size=100)["results"]
        rows.sort(key=lambda row: row["created_at"])
        middle = rows[len(rows) // 2]["created_at"]
        later = [row["id"] for row in rows if row["created_at"] >= middle]
        earlier = [row["id"] for row in rows if row["created_at"] <= middle]
        for name, expected in (("created_at_from", later), ("created_at_to", earlier)):
            found = page(crowd, operation, page_size=100, **{name: middle})
            assert set(ids([found])) == set(expected)
            assert found["count"] == len(expected)
        changed = [row["id"] for row in rows if row.get("updated_at", row["created_at"]) >= middle]
        found = page(crowd, operation, page_size=100, updated_at_from=middle)
        assert set(ids([found])) == set(changed)
