"""What is given up of an invoice or a bill, and taken up again."""

from datetime import timedelta
from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import NOBODY, PAID, PURCHASES, SALES, Record, Trade, line
from tests.clock import today
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"
ENTRIES = "general-ledger/journal-entries/"
GONE = "2025-03-20"
AT = f"{GONE}T12:00:00Z"
TODAY = str(today())


def path_of(trade: Trade, document: Record) -> str:
    return trade.of(document, "write-offs")


def reverse(shop: Business, trade: Trade, document: Record, write_off: Record) -> Record:
    answer = shop.api.delete(f"{path_of(trade, document)}{write_off['id']}/")
    assert answer.status_code == 200, answer.text
    reversed_: Record = answer.json()
    return reversed_


def titled(trade: Trade, party: Record) -> str:
    article = "an" if trade is SALES else "a"
    return f"{article} {trade.title[0].lower()}{trade.title[1:]} {party['company_name']}"


class WritingOff:
    def test_a_write_off_shows_all_given_fields(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 1_000)
        account = shop.api.get(f"{CHART}6000/").json()["id"]
        given = {
            "external_id": "wo-1",
            "amount_cents": 400,
            "write_off_at": AT,
            "memo": "Disputed",
            "destination_account": {"type": "AccountId", "id": account},
            "tags": [{"key": "reason", "value": "dispute"}, {"key": "by", "value": ""}],
        }
        answer = shop.api.post(path_of(trade, document), json=given)
        shown = answer.json()
        assert answer.status_code == 201, answer.text
        [write_off] = shown["write_offs"]
        unrelieved = {"tax_relief": False, "tax_relieved_cents": 0}
        assert write_off == {**given, **unrelieved, "id": write_off["id"]}
        assert (shown["type"], shown["id"]) == (trade.noun.capitalize(), document["id"])
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_written_off", 600)
        assert answer.headers["etag"] == '"2"'
        assert answer.headers["location"].endswith(f"/{trade.of(document)}")
        again = shop.api.get(trade.of(document))
        assert (again.json(), again.headers["etag"]) == (shown, '"2"')
        [entry] = ledger.entries(write_off)
        assert (entry.on, entry.amounts) == (GONE, trade.posted_by_write_off(400, "6000"))
        assert (entry.source_type, entry.reference) == (
            trade.write_off_source,
            document[trade.number],
        )
        assert entry.description == f"Write-off of {titled(trade, party)}"

    @pytest.mark.parametrize("options", [{}, {"json": {}}])
    def test_a_write_off_without_fields_takes_the_open_amount_today(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, options: Record
    ) -> None:
        document = trade.open(shop, party, 1_000)
        trade.pay(shop, party, 300, trade.part(document, 300))
        trade.credit(shop, party, 100, trade.share(document, 100))
        shown = shop.api.post(path_of(trade, document), **options).json()
        [write_off] = shown["write_offs"]
        given_up = shop.api.get(f"{CHART}{trade.given_up}/").json()["id"]
        assert (write_off["amount_cents"], write_off["write_off_at"][:10]) == (600, TODAY)
        assert write_off["destination_account"] == {"type": "AccountId", "id": given_up}
        assert (write_off["external_id"], write_off["memo"], write_off["tags"]) == (None, None, [])
        assert (shown["status"], shown["outstanding_balance"]) == ("written_off", 0)
        assert shown["paid_at"] == f"{TODAY}T00:00:00Z"
        assert ledger.postings(write_off) == [(TODAY, trade.posted_by_write_off(600))]

    def test_money_on_its_way_is_not_left(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 1_000)
        pending = trade.pay(shop, party, 250, trade.part(document, 250), status="pending")
        with ledger.untouched():
            answer = shop.api.post(path_of(trade, document), json={"amount_cents": 751})
        assert answer.json()["error_code"] == "allocation_exceeds_outstanding"
        assert (answer.status_code, answer.json()["detail"]["left"]) == (422, 750)
        shown = trade.write_off(shop, document)
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_written_off", 250)
        trade.change(shop, pending, status="completed")
        assert trade.read(shop, document)["status"] == "written_off"

    def test_a_document_can_be_written_off_in_parts(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 1_000)
        trade.write_off(shop, document, amount_cents=1, memo="first")
        shown = trade.write_off(shop, document, memo="second")
        assert [(each["memo"], each["amount_cents"]) for each in shown["write_offs"]] == [
            ("first", 1),
            ("second", 999),
        ]
        assert shown == trade.read(shop, document)

    def test_a_write_off_settles_the_parts_of_the_document_in_proportion(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        document = trade.open(shop, party, line_items=[taxed])
        trade.pay(shop, party, 3_333, trade.part(document, 3_333))
        [write_off] = trade.write_off(shop, document)["write_offs"]
        rows = ledger.ask(
            "SELECT l.split FROM journal_line l JOIN journal_entry e"
            " ON e.business_id = l.business_id AND e.id = l.entry_id"
            " WHERE l.business_id = %(business)s AND e.source_id = %(id)s"
            " AND l.settles_id = %(document)s",
            id=write_off["id"],
            document=document["id"],
        )
        assert [sorted(amount for _, amount in split) for (split,) in rows] == [
            sorted(trade.sign * amount for amount in (-5_556, -1_111))
        ]

    def test_a_write_off_is_dated_no_earlier_than_the_document(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        shown = trade.write_off(
            shop, trade.open(shop, party, 5), write_off_at="2025-02-10T10:00:00Z"
        )
        [write_off] = shown["write_offs"]
        assert [entry.on for entry in ledger.entries(write_off)] == ["2025-03-01"]
        assert write_off["write_off_at"] == "2025-02-10T10:00:00Z"
        assert shown["paid_at"] == "2025-03-01T00:00:00Z"

    def test_a_moment_is_told_by_its_day_in_utc(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        shown = trade.write_off(
            shop, trade.open(shop, party, 5), write_off_at="2025-03-21T01:30:00+02:00"
        )
        [write_off] = shown["write_offs"]
        assert write_off["write_off_at"] == "2025-03-20T23:30:00Z"
        assert [entry.on for entry in ledger.entries(write_off)] == [GONE]

    def test_a_known_external_id_writes_nothing_off(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 1_000)
        first = trade.write_off(shop, document, amount_cents=100, external_id="known")
        locked = {"write_off_at": "2024-01-01T00:00:00Z"}
        for body in ({"amount_cents": 100}, {"amount_cents": 9_999}, {}, locked):
            with ledger.untouched():
                again = shop.api.post(
                    path_of(trade, document), json={**body, "external_id": "known"}
                )
            assert (again.status_code, again.json()) == (200, first)
            assert again.headers["etag"] == '"2"'
        after = reverse(shop, trade, document, first["write_offs"][0])
        with ledger.untouched():
            once = shop.api.post(path_of(trade, document), json={"external_id": "known"})
        assert (once.status_code, once.json()) == (200, after)

    def test_an_external_id_of_the_write_off_of_another_is_taken(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first = trade.write_off(shop, trade.open(shop, party), external_id="elsewhere")
        document = trade.open(shop, party)
        with ledger.untouched():
            answer = shop.api.post(path_of(trade, document), json={"external_id": "elsewhere"})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_external_id")
        known = {"external_id": "elsewhere", "id": first["write_offs"][0]["id"]}
        assert answer.json()["detail"] == {**known, f"{trade.noun}_id": first["id"]}

    def test_a_key_and_a_version_of_the_document_are_held(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party)
        with ledger.untouched():
            stale = shop.api.post(path_of(trade, document), headers={"If-Match": '"2"'})
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
        headers = {"Idempotency-Key": str(uuid4()), "If-Match": '"1"'}
        body = {"amount_cents": 5}
        first = shop.api.post(path_of(trade, document), json=body, headers=headers)
        with ledger.untouched():
            again = shop.api.post(path_of(trade, document), json=body, headers=headers)
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["idempotent-replayed"] == "true"

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party)
        with ledger.untouched():
            seen = shop.api.post(
                f"{path_of(trade, document)}?preview=true", json={"write_off_at": AT}
            )
        shown = seen.json()
        assert (seen.status_code, "location" in seen.headers) == (200, False)
        assert (shown["status"], shown["write_offs"][0]["amount_cents"]) == ("written_off", 1_000)
        [entry] = shown["journal_entries"]
        codes = [each["account_code"] for each in entry["lines"]]
        assert codes == list(trade.posted_by_write_off(1_000))
        assert (entry["entry_date"], entry["sequence_number"]) == (GONE, None)
        assert entry["source_id"] == shown["write_offs"][0]["id"]

    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"amount_cents": 0}, "amount_cents"),
            ({"amount_cents": -1}, "amount_cents"),
            ({"amount_cents": 1.5}, "amount_cents"),
            ({"write_off_at": GONE}, "write_off_at"),
            ({"external_id": ""}, "external_id"),
            ({"destination_account": {"type": "AccountCode"}}, "destination_account.type"),
            ({"destination_account": "6200"}, "destination_account"),
            ({"tags": ["reason"]}, "tags.0"),
            ({"tags": [{"key": "reason"}]}, "tags.0.value"),
            ({"metadata": {}}, "metadata"),
        ],
    )
    def test_a_malformed_write_off_is_400(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, facts: Record, field: str
    ) -> None:
        document = trade.open(shop, party)
        with ledger.untouched():
            answer = shop.api.post(path_of(trade, document), json=facts)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert list(answer.json()["detail"]["field_errors"]) == [field]


class Reversing:
    def test_a_reversal_is_posted_today_with_a_link(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 1_000)
        trade.pay(shop, party, 300, trade.part(document, 300))
        [write_off] = trade.write_off(shop, document, write_off_at=AT)["write_offs"]
        answer = shop.api.delete(f"{path_of(trade, document)}{write_off['id']}/")
        shown = answer.json()
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 700)
        assert (shown["write_offs"], shown["paid_at"]) == ([], None)
        again = shop.api.get(trade.of(document))
        assert (again.json(), again.headers["etag"]) == (shown, answer.headers["etag"])
        standing, mirror = ledger.entries(write_off)
        assert (mirror.on, mirror.reversal_of) == (TODAY, standing.id)
        assert mirror.lines == tuple((code, -amount) for code, amount in standing.lines)
        assert mirror.description == f"Reversal of write-off of {titled(trade, party)}"
        told = (document[trade.number], trade.write_off_source)
        assert (mirror.reference, mirror.source_type) == told
        linked = shop.api.get(f"{ENTRIES}{standing.id}/").json()
        assert linked["reversed_by_id"] == mirror.id

    def test_other_write_offs_stay_and_the_amount_can_be_written_off_again(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 1_000)
        first, second = (
            trade.write_off(shop, document, amount_cents=amount)["write_offs"][-1]
            for amount in (400, 600)
        )
        assert [each["id"] for each in reverse(shop, trade, document, first)["write_offs"]] == [
            second["id"]
        ]
        third = trade.write_off(shop, document)["write_offs"][-1]
        assert third["amount_cents"] == 400
        assert trade.read(shop, document)["status"] == "written_off"

    def test_nothing_is_taken_back_before_the_day_it_was_posted(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        ahead = str(today() + timedelta(days=9))
        document = trade.open(shop, party)
        [write_off] = trade.write_off(shop, document, write_off_at=f"{ahead}T00:00:00Z")[
            "write_offs"
        ]
        reverse(shop, trade, document, write_off)
        first, mirror = ledger.entries(write_off)
        assert (first.on, mirror.on, mirror.reversal_of) == (ahead, ahead, first.id)

    def test_a_write_off_in_a_locked_period_is_reversed_after_the_lock(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party)
        [write_off] = trade.write_off(shop, document, write_off_at=AT)["write_offs"]
        until, after = today(), str(today() + timedelta(days=1))
        with ledger.locked(str(until)):
            reverse(shop, trade, document, write_off)
        first, mirror = ledger.entries(write_off)
        assert (first.on, mirror.on, mirror.reversal_of) == (GONE, after, first.id)

    def test_a_write_off_is_reversed_once(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party)
        [write_off] = trade.write_off(shop, document)["write_offs"]
        reverse(shop, trade, document, write_off)
        with ledger.untouched():
            answer = shop.api.delete(f"{path_of(trade, document)}{write_off['id']}/")
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invalid_state_transition"
        detail = {"current_state": "reversed", "allowed_next_states": []}
        assert answer.json()["detail"] == detail

    def test_if_match_speaks_of_the_document(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party)
        [write_off] = trade.write_off(shop, document)["write_offs"]
        path = f"{path_of(trade, document)}{write_off['id']}/"
        with ledger.untouched():
            stale = shop.api.delete(path, headers={"If-Match": '"1"'})
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
        assert shop.api.delete(path, headers={"If-Match": '"2"'}).status_code == 200

    def test_a_preview_takes_nothing_back(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party)
        [write_off] = trade.write_off(shop, document)["write_offs"]
        with ledger.untouched():
            path = f"{path_of(trade, document)}{write_off['id']}/?preview=true"
            seen = shop.api.delete(path).json()
        assert (seen["status"], seen["write_offs"]) == (trade.opened, [])
        [mirror] = seen["journal_entries"]
        assert mirror["reversal_of_id"] == ledger.entries(write_off)[0].id

    def test_a_write_off_is_found_under_its_own_document_only(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party)
        [write_off] = trade.write_off(shop, trade.open(shop, party))["write_offs"]
        for id_ in (write_off["id"], NOBODY):
            with ledger.untouched():
                answer = shop.api.delete(f"{path_of(trade, document)}{id_}/")
            assert answer.status_code == 404
            assert answer.json()["error_code"] == "write_off_not_found"

    def test_a_later_payment_keeps_its_day(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 1_000)
        [write_off] = trade.write_off(shop, document, amount_cents=400, write_off_at=AT)[
            "write_offs"
        ]
        trade.pay(shop, party, 600, trade.part(document, 600))
        reverse(shop, trade, document, write_off)
        settled = trade.pay(shop, party, 400, trade.part(document, 400), payment_date="2025-03-25")
        shown = trade.read(shop, document)
        assert (shown["status"], shown["paid_at"]) == ("paid", "2025-03-25T00:00:00Z")
        days = [each["payment_date"] for each in shown[trade.payment_allocations]]
        assert days == [PAID, settled["payment_date"]]


class TestWriteOffInvoice(WritingOff):
    trade = SALES


class TestWriteOffBill(WritingOff):
    trade = PURCHASES


class TestReverseWriteOff(Reversing):
    trade = SALES


class TestReverseBillWriteOff(Reversing):
    trade = PURCHASES
