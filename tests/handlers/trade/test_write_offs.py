"""Write-offs of invoices and bills, and their reversal."""

import pytest

from tests.builders.trade import PAID, PURCHASES, SALES, Record, line, unwarned
from tests.clock import today
from tests.handlers.trade.side import Side

CHART = "general-ledger/chart-of-accounts/"
ENTRIES = "general-ledger/journal-entries/"
GONE = "2025-03-20"
AT = f"{GONE}T12:00:00Z"
TODAY = str(today())


def reverse(side: Side, document: Record, write_off: Record) -> Record:
    answer = side.api.delete(f"{side.trade.of(document, 'write-offs')}{write_off['id']}/")
    assert answer.status_code == 200, answer.text
    reversed_: Record = answer.json()
    return reversed_


def title_of(side: Side) -> str:
    article = "an" if side.trade is SALES else "a"
    title = side.trade.title[0].lower() + side.trade.title[1:]
    return f"{article} {title} {side.counterparty['company_name']}"


class WritingOff:
    def test_a_write_off_shows_all_given_fields(self, side: Side) -> None:
        document = side.open(1_000)
        account = side.api.get(f"{CHART}6000/").json()["id"]
        given = {
            "external_id": "wo-1",
            "amount_cents": 400,
            "write_off_at": AT,
            "memo": "Disputed",
            "destination_account": {"type": "AccountId", "id": account},
            "tags": [{"key": "reason", "value": "dispute"}, {"key": "by", "value": ""}],
        }
        answer = side.api.post(side.trade.of(document, "write-offs"), json=given)
        shown = answer.json()
        assert answer.status_code == 201, answer.text
        [write_off] = shown["write_offs"]
        unrelieved = {"tax_relief": False, "tax_relieved_cents": 0}
        assert write_off == {**given, **unrelieved, "id": write_off["id"]}
        assert (shown["type"], shown["id"]) == (side.trade.noun.capitalize(), document["id"])
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_written_off", 600)
        assert answer.headers["etag"] == '"2"'
        assert answer.headers["location"].endswith(f"/{side.trade.of(document)}")
        again = side.api.get(side.trade.of(document))
        assert (again.json(), again.headers["etag"]) == (shown, '"2"')
        [entry] = side.ledger.entries(write_off)
        assert (entry.on, entry.amounts) == (GONE, side.trade.posted_by_write_off(400, "6000"))
        assert (entry.source_type, entry.reference) == (
            side.trade.write_off_source,
            document[side.trade.number],
        )
        assert entry.description == f"Write-off of {title_of(side)}"

    @pytest.mark.parametrize("options", [{}, {"json": {}}])
    def test_a_write_off_without_fields_takes_the_open_amount_today(
        self, side: Side, options: Record
    ) -> None:
        document = side.open(1_000)
        side.pay(300, side.trade.part(document, 300))
        side.credit(100, side.trade.share(document, 100))
        shown = side.api.post(side.trade.of(document, "write-offs"), **options).json()
        [write_off] = shown["write_offs"]
        given_up = side.api.get(f"{CHART}{side.trade.given_up}/").json()["id"]
        assert (write_off["amount_cents"], write_off["write_off_at"][:10]) == (600, TODAY)
        assert write_off["destination_account"] == {"type": "AccountId", "id": given_up}
        assert (write_off["external_id"], write_off["memo"], write_off["tags"]) == (None, None, [])
        assert (shown["status"], shown["outstanding_balance"]) == ("written_off", 0)
        assert shown["paid_at"] == f"{TODAY}T00:00:00Z"
        assert side.ledger.postings(write_off) == [(TODAY, side.trade.posted_by_write_off(600))]

    def test_money_on_its_way_is_not_left(self, side: Side) -> None:
        document = side.open(1_000)
        pending = side.pay(250, side.trade.part(document, 250), status="pending")
        with side.ledger.untouched():
            answer = side.api.post(
                side.trade.of(document, "write-offs"), json={"amount_cents": 751}
            )
        assert answer.json()["error_code"] == "allocation_exceeds_outstanding"
        assert (answer.status_code, answer.json()["detail"]["left"]) == (422, 750)
        shown = side.write_off(document)
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_written_off", 250)
        side.change(pending, status="completed")
        assert side.read(document)["status"] == "written_off"

    def test_a_write_off_settles_the_parts_of_the_document_in_proportion(self, side: Side) -> None:
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        document = side.open(line_items=[taxed])
        side.pay(3_333, side.trade.part(document, 3_333))
        [write_off] = side.write_off(document)["write_offs"]
        rows = side.ledger.ask(
            "SELECT l.split FROM journal_line l JOIN journal_entry e"
            " ON e.business_id = l.business_id AND e.id = l.entry_id"
            " WHERE l.business_id = %(business)s AND e.source_id = %(id)s"
            " AND l.settles_id = %(document)s",
            id=write_off["id"],
            document=document["id"],
        )
        assert [sorted(amount for _, amount in split) for (split,) in rows] == [
            sorted(side.trade.sign * amount for amount in (-5_556, -1_111))
        ]

    def test_a_write_off_is_dated_no_earlier_than_the_document(self, side: Side) -> None:
        shown = side.write_off(side.open(5), write_off_at="2025-02-10T10:00:00Z")
        [write_off] = shown["write_offs"]
        assert [entry.on for entry in side.ledger.entries(write_off)] == ["2025-03-01"]
        assert write_off["write_off_at"] == "2025-02-10T10:00:00Z"
        assert shown["paid_at"] == "2025-03-01T00:00:00Z"

    def test_a_write_off_is_dated_by_its_day_in_utc(self, side: Side) -> None:
        shown = side.write_off(side.open(5), write_off_at="2025-03-21T01:30:00+02:00")
        [write_off] = shown["write_offs"]
        assert write_off["write_off_at"] == "2025-03-20T23:30:00Z"
        assert [entry.on for entry in side.ledger.entries(write_off)] == [GONE]

    def test_a_known_external_id_writes_nothing_off(self, side: Side) -> None:
        document = side.open(1_000)
        first = side.write_off(document, amount_cents=100, external_id="known")
        locked = {"write_off_at": "2024-01-01T00:00:00Z"}
        for body in ({"amount_cents": 100}, {"amount_cents": 9_999}, {}, locked):
            with side.ledger.untouched():
                again = side.api.post(
                    side.trade.of(document, "write-offs"), json={**body, "external_id": "known"}
                )
            assert (again.status_code, unwarned(again.json())) == (200, first)
            assert again.headers["etag"] == '"2"'
        after = reverse(side, document, first["write_offs"][0])
        with side.ledger.untouched():
            once = side.api.post(
                side.trade.of(document, "write-offs"), json={"external_id": "known"}
            )
        assert (once.status_code, unwarned(once.json())) == (200, after)

    def test_an_external_id_of_the_write_off_of_another_is_taken(self, side: Side) -> None:
        first = side.write_off(side.open(), external_id="elsewhere")
        document = side.open()
        with side.ledger.untouched():
            answer = side.api.post(
                side.trade.of(document, "write-offs"), json={"external_id": "elsewhere"}
            )
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_external_id")
        known = {"external_id": "elsewhere", "id": first["write_offs"][0]["id"]}
        assert answer.json()["detail"] == {**known, f"{side.trade.noun}_id": first["id"]}

    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"destination_account": {"type": "AccountCode"}}, "destination_account.type"),
            ({"tags": [{"key": "reason"}]}, "tags.0.value"),
        ],
    )
    def test_an_incomplete_account_or_tag_is_400(
        self, side: Side, facts: Record, field: str
    ) -> None:
        answer = side.api.post(side.trade.of(side.open(), "write-offs"), json=facts)
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [field]


class Reversal:
    def test_a_reversal_is_posted_today_with_a_link(self, side: Side) -> None:
        document = side.open(1_000)
        side.pay(300, side.trade.part(document, 300))
        [write_off] = side.write_off(document, write_off_at=AT)["write_offs"]
        answer = side.api.delete(f"{side.trade.of(document, 'write-offs')}{write_off['id']}/")
        shown = answer.json()
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 700)
        assert (shown["write_offs"], shown["paid_at"]) == ([], None)
        again = side.api.get(side.trade.of(document))
        assert (again.json(), again.headers["etag"]) == (shown, answer.headers["etag"])
        standing, mirror = side.ledger.entries(write_off)
        assert (mirror.on, mirror.reversal_of) == (TODAY, standing.id)
        assert mirror.lines == tuple((code, -amount) for code, amount in standing.lines)
        assert mirror.description == f"Reversal of write-off of {title_of(side)}"
        source = (document[side.trade.number], side.trade.write_off_source)
        assert (mirror.reference, mirror.source_type) == source
        linked = side.api.get(f"{ENTRIES}{standing.id}/").json()
        assert linked["reversed_by_id"] == mirror.id

    def test_other_write_offs_stay_and_the_amount_can_be_written_off_again(
        self, side: Side
    ) -> None:
        document = side.open(1_000)
        side.write_off(document, amount_cents=400)
        first, second = side.write_off(document)["write_offs"]
        assert (first["amount_cents"], second["amount_cents"]) == (400, 600)
        assert reverse(side, document, first)["write_offs"] == [second]
        shown = side.write_off(document)
        assert [each["amount_cents"] for each in shown["write_offs"]] == [600, 400]
        assert shown["status"] == "written_off"

    def test_if_match_speaks_of_the_document(self, side: Side) -> None:
        document = side.open()
        [write_off] = side.write_off(document)["write_offs"]
        path = f"{side.trade.of(document, 'write-offs')}{write_off['id']}/"
        stale = side.ledger.refused("DELETE", path, headers={"If-Match": '"1"'})
        assert stale == (412, "precondition_failed")
        assert side.api.delete(path, headers={"If-Match": '"2"'}).status_code == 200

    def test_a_write_off_is_found_under_its_own_document_only(self, side: Side) -> None:
        document = side.open()
        [write_off] = side.write_off(side.open())["write_offs"]
        path = f"{side.trade.of(document, 'write-offs')}{write_off['id']}/"
        assert side.ledger.refused("DELETE", path) == (404, "write_off_not_found")

    def test_a_later_payment_keeps_its_day(self, side: Side) -> None:
        document = side.open(1_000)
        [write_off] = side.write_off(document, amount_cents=400, write_off_at=AT)["write_offs"]
        side.pay(600, side.trade.part(document, 600))
        reverse(side, document, write_off)
        settled = side.pay(400, side.trade.part(document, 400), payment_date="2025-03-25")
        shown = side.read(document)
        assert (shown["status"], shown["paid_at"]) == ("paid", "2025-03-25T00:00:00Z")
        days = [each["payment_date"] for each in shown[side.trade.payment_allocations]]
        assert days == [PAID, settled["payment_date"]]


class TestWriteOffInvoice(WritingOff):
    trade = SALES


class TestWriteOffBill(WritingOff):
    trade = PURCHASES


class TestReverseWriteOff(Reversal):
    trade = SALES


class TestReverseBillWriteOff(Reversal):
    trade = PURCHASES
