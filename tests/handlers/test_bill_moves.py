"""receive_bill, void_bill and delete_bill: the moves of a bill."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger, today
from tests.handlers.bodies import NOBODY, Record, line
from tests.handlers.buying import (
    BILLED,
    BILLS,
    RECEIVED,
    bill_body,
    paid_out,
    part,
    read,
    received,
    returned,
    share,
)
from tests.partnership import Business, Partnership


@pytest.fixture
def draft(shop: Business, vendor: Record) -> Record:
    return shop.made(BILLS, bill_body(vendor, line(500)))


def refused(shop: Business, ledger: Ledger, bill: Record, move: str) -> tuple[int, str, Record]:
    with ledger.untouched():
        answer = shop.api.post(f"{BILLS}{bill['id']}/{move}/")
    body = answer.json()
    return answer.status_code, body["error_code"], body["detail"]


class TestReceiveBill:
    def test_a_draft_takes_its_number_and_is_posted(
        self, shop: Business, ledger: Ledger, draft: Record
    ) -> None:
        given = {"received_at": "2025-03-04T10:00:00Z", "due_at": "2025-03-09T00:00:00Z"}
        answer = shop.api.post(f"{BILLS}{draft['id']}/receive/", json=given)
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert shown["bill_number"].startswith("BILL-")
        assert {name: shown[name] for name in given} == given
        assert shown["status"] == "overdue"
        [entry] = ledger.entries(draft)
        assert (entry.on, entry.amounts) == ("2025-03-04", {"6000": 500, "2000": -500})
        assert entry.reference == shown["bill_number"]
        assert read(shop, BILLS, draft) == shown

    def test_it_is_posted_on_its_own_date(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        draft = shop.made(BILLS, bill_body(vendor, bill_date=BILLED))
        shown = shop.api.post(f"{BILLS}{draft['id']}/receive/").json()
        assert (shown["received_at"][:10], shown["bill_date"]) == (str(today()), BILLED)
        assert [entry.on for entry in ledger.entries(draft)] == [BILLED]

    @pytest.mark.parametrize("body", [None, {}])
    def test_without_a_day_it_is_received_now(
        self, shop: Business, ledger: Ledger, draft: Record, body: Record | None
    ) -> None:
        path = f"{BILLS}{draft['id']}/receive/"
        shown = shop.api.post(path, **({} if body is None else {"json": body})).json()
        assert (shown["status"], shown["received_at"][:10]) == ("received", str(today()))
        assert [entry.on for entry in ledger.entries(draft)] == [str(today())]

    def test_it_keeps_a_number_of_its_own(self, shop: Business, vendor: Record) -> None:
        draft = shop.made(BILLS, bill_body(vendor, bill_number="Own-1"))
        assert shop.api.post(f"{BILLS}{draft['id']}/receive/").json()["bill_number"] == "Own-1"

    def test_it_is_due_after_the_terms_of_its_vendor(self, shop: Business) -> None:
        patient = shop.vendor(payment_terms_days=10)
        draft = shop.made(BILLS, bill_body(patient, bill_date=BILLED))
        assert draft["due_at"] is None
        path = f"{BILLS}{draft['id']}/receive/"
        assert shop.api.post(path, json={"received_at": RECEIVED}).json()["due_at"] == (
            "2025-03-11T09:00:00Z"
        )

    def test_it_is_received_once(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        told = {"current_state": "received", "allowed_next_states": ["voided"]}
        assert refused(shop, ledger, received(shop, vendor), "receive") == (
            409,
            "invalid_state_transition",
            told,
        )

    def test_not_into_a_locked_period(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        draft = shop.made(BILLS, bill_body(vendor, bill_date="2025-03-31"))
        with ledger.locked("2025-03-31"):
            status, code, _ = refused(shop, ledger, draft, "receive")
        assert (status, code) == (409, "period_locked")

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED", "ARCHIVED"])
    def test_not_from_a_vendor_that_is_not_active(
        self, shop: Business, ledger: Ledger, status: str
    ) -> None:
        gone = shop.vendor()
        draft = shop.made(BILLS, bill_body(gone))
        if status == "ARCHIVED":
            shop.api.post(f"vendors/{gone['id']}/archive/")
        else:
            shop.api.patch(f"vendors/{gone['id']}/", json={"status": status})
        told = {"status": status, "vendor_id": gone["id"]}
        assert refused(shop, ledger, draft, "receive") == (409, "vendor_not_active", told)
        with ledger.untouched():
            answer = shop.api.put(
                f"{BILLS}{draft['id']}/", json={"line_items": [line(2)], "received_at": RECEIVED}
            )
        assert (answer.status_code, answer.json()["error_code"]) == (409, "vendor_not_active")

    def test_a_preview_receives_nothing(
        self, shop: Business, ledger: Ledger, draft: Record
    ) -> None:
        with ledger.untouched():
            seen = shop.api.post(
                f"{BILLS}{draft['id']}/receive/?preview=true", json={"received_at": RECEIVED}
            ).json()
        assert (seen["status"], seen["bill_number"]) == ("received", None)
        assert [each["entry_date"] for each in seen["journal_entries"]] == ["2025-03-03"]

    def test_a_key_and_a_version_are_held(
        self, shop: Business, ledger: Ledger, draft: Record
    ) -> None:
        path = f"{BILLS}{draft['id']}/receive/"
        with ledger.untouched():
            stale = shop.api.post(path, headers={"If-Match": '"2"'})
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
        headers = {"Idempotency-Key": str(uuid4()), "If-Match": '"1"'}
        first = shop.api.post(path, headers=headers)
        with ledger.untouched():
            again = shop.api.post(path, headers=headers)
        assert (first.status_code, again.content) == (200, first.content)


class TestVoidBill:
    def test_it_mirrors_every_entry_that_stands_and_links_them(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        given = {"additional_discount": 100, "bill_date": BILLED, "received_at": RECEIVED}
        bill = shop.made(BILLS, bill_body(vendor, line(900, tax_rate=20), **given))
        shop.api.put(f"{BILLS}{bill['id']}/", json={"line_items": [line(700)]})
        answer = shop.api.post(
            f"{BILLS}{bill['id']}/void/", json={"voided_at": "2025-03-20T12:00:00Z"}
        )
        shown = answer.json()
        assert (answer.status_code, shown["status"]) == (200, "voided")
        assert (shown["outstanding_balance"], shown["total_amount"]) == (0, 700)
        assert shown["voided_at"] == "2025-03-20T12:00:00Z"
        assert shown["bill_number"] == bill["bill_number"]
        *standing, first, second = ledger.entries(bill)
        assert {entry.on for entry in (first, second)} == {"2025-03-20"}
        assert [first.reversal_of, second.reversal_of] == [entry.id for entry in standing]
        for entry, mirror in zip(standing, (first, second), strict=True):
            assert mirror.lines == tuple((code, -amount) for code, amount in entry.lines)

    def test_without_a_day_it_is_voided_today(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        shop.api.post(f"{BILLS}{bill['id']}/void/")
        assert ledger.entries(bill)[-1].on == str(today())

    def test_it_is_not_taken_back_before_its_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, bill_date="2025-03-20")
        early = {"voided_at": "2025-03-04T00:00:00Z"}
        shop.api.post(f"{BILLS}{bill['id']}/void/", json=early)
        assert ledger.entries(bill)[-1].on == "2025-03-20"

    def test_what_stands_in_a_locked_period_is_taken_back_after_it(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        path = f"{BILLS}{bill['id']}/void/"
        with ledger.locked("2025-03-31"):
            with ledger.untouched():
                inside = shop.api.post(path, json={"voided_at": "2025-03-31T00:00:00Z"})
            shop.api.post(path, json={"voided_at": "2025-04-02T00:00:00Z"})
        assert (inside.status_code, inside.json()["error_code"]) == (409, "period_locked")
        first, mirror = ledger.entries(bill)
        assert (mirror.on, mirror.reversal_of) == ("2025-04-02", first.id)

    def test_its_own_number_stays_taken(self, shop: Business, vendor: Record) -> None:
        bill = received(shop, vendor, bill_number="Mine-7", vendor_bill_number="Theirs-7")
        shop.api.post(f"{BILLS}{bill['id']}/void/")
        again = bill_body(vendor, bill_number="Mine-7")
        assert shop.api.post(BILLS, json=again).json()["error_code"] == "duplicate_bill_number"
        assert shop.made(BILLS, bill_body(vendor, vendor_bill_number="Theirs-7"))

    @pytest.mark.parametrize("status", ["completed", "processing"])
    def test_not_while_money_is_allocated(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        bill = received(shop, vendor)
        paid_out(shop, vendor, 10, part(bill, 10), status=status)
        status_code, code, detail = refused(shop, ledger, bill, "void")
        assert (status_code, code, detail["allocated"]) == (409, "bill_has_allocations", 10)

    def test_not_while_it_is_credited(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        bill = received(shop, vendor)
        returned(shop, vendor, 10, share(bill, 10))
        status, code, detail = refused(shop, ledger, bill, "void")
        assert (status, code, detail["credited"]) == (409, "bill_has_allocations", 10)

    @pytest.mark.parametrize(
        ("moves", "state", "next_states"),
        [((), "draft", ["received"]), (("receive", "void"), "voided", [])],
    )
    def test_only_an_open_one_is_voided_and_only_once(
        self,
        shop: Business,
        ledger: Ledger,
        draft: Record,
        moves: tuple[str, ...],
        state: str,
        next_states: list[str],
    ) -> None:
        for move in moves:
            shop.api.post(f"{BILLS}{draft['id']}/{move}/")
        detail = {"current_state": state, "allowed_next_states": next_states}
        assert refused(shop, ledger, draft, "void") == (409, "invalid_state_transition", detail)

    def test_a_vendor_that_is_blocked_keeps_nobody_from_it(self, shop: Business) -> None:
        doubtful = shop.vendor()
        bill = received(shop, doubtful)
        shop.api.patch(f"vendors/{doubtful['id']}/", json={"status": "BLOCKED"})
        assert shop.api.post(f"{BILLS}{bill['id']}/void/").json()["status"] == "voided"

    def test_a_preview_voids_nothing(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        bill = received(shop, vendor)
        with ledger.untouched():
            seen = shop.api.post(f"{BILLS}{bill['id']}/void/?preview=true").json()
        [mirror] = seen["journal_entries"]
        assert (seen["status"], mirror["sequence_number"]) == ("voided", None)
        assert mirror["reversal_of_id"] == ledger.entries(bill)[0].id

    def test_a_stale_version_is_not_voided(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        with ledger.untouched():
            stale = shop.api.post(f"{BILLS}{bill['id']}/void/", headers={"If-Match": '"7"'})
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")


class TestDeleteBill:
    def test_a_draft_is_gone_for_good(self, shop: Business, ledger: Ledger, draft: Record) -> None:
        answer = shop.api.delete(f"{BILLS}{draft['id']}/")
        assert (answer.status_code, answer.json()) == (200, {"deleted": True})
        assert shop.api.get(f"{BILLS}{draft['id']}/").status_code == 404
        assert shop.api.delete(f"{BILLS}{draft['id']}/").status_code == 404
        assert ledger.ask("SELECT 1 FROM bill WHERE id = %(id)s", id=draft["id"]) == []

    def test_its_external_id_and_numbers_are_free_again(
        self, shop: Business, vendor: Record
    ) -> None:
        names = {"external_id": "once", "bill_number": "Once-1", "vendor_bill_number": "Once-2"}
        draft = shop.made(BILLS, bill_body(vendor, **names))
        shop.api.delete(f"{BILLS}{draft['id']}/")
        assert shop.made(BILLS, bill_body(vendor, **names))["id"] != draft["id"]

    def test_what_was_received_is_not_deleted(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        with ledger.untouched():
            answer = shop.api.delete(f"{BILLS}{bill['id']}/")
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invalid_state_transition"

    def test_nor_is_what_a_credit_names(
        self, shop: Business, ledger: Ledger, vendor: Record, draft: Record
    ) -> None:
        returned(shop, vendor, 5, source_bill_id=draft["id"])
        with ledger.untouched():
            answer = shop.api.delete(f"{BILLS}{draft['id']}/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "bill_has_allocations")

    def test_a_stale_version_is_not_deleted(
        self, shop: Business, ledger: Ledger, draft: Record
    ) -> None:
        path = f"{BILLS}{draft['id']}/"
        with ledger.untouched():
            stale = shop.api.delete(path, headers={"If-Match": '"2"'})
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
        assert shop.api.delete(path, headers={"If-Match": '"1"'}).status_code == 200

    def test_one_of_another_business_is_not_there(self, shop: Business, rival: Partnership) -> None:
        elsewhere = rival.business()
        foreign = received(elsewhere, elsewhere.vendor())
        for id_ in (foreign["id"], NOBODY):
            for method, path in (
                ("DELETE", f"{BILLS}{id_}/"),
                ("POST", f"{BILLS}{id_}/void/"),
                ("POST", f"{BILLS}{id_}/receive/"),
                ("GET", f"{BILLS}{id_}/"),
            ):
                answer = shop.api.request(method, path)
                assert (answer.status_code, answer.json()["error_code"]) == (404, "bill_not_found")
