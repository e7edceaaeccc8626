"""Moves of invoices and bills: sent or received, voided, deleted."""

import pytest

from tests.builders.trade import DAY, PURCHASES, RECEIVED, SALES, SENT, Record, line
from tests.clock import today
from tests.handlers.trade.side import Side

CHART = "general-ledger/chart-of-accounts/"
ENTRIES = "general-ledger/journal-entries/"


@pytest.fixture
def draft(side: Side) -> Record:
    return side.draft(line(500))


@pytest.fixture
def opened(side: Side) -> Record:
    return side.open()


class Opening:
    """send_invoice and receive_bill."""

    def test_a_draft_takes_its_number_and_is_posted(self, side: Side, draft: Record) -> None:
        given = {side.trade.moment: "2025-03-04T10:00:00Z", "due_at": "2025-03-09T00:00:00Z"}
        answer = side.api.post(side.trade.of(draft, side.trade.move), json=given)
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert shown[side.trade.number].startswith(side.trade.series)
        assert {name: shown[name] for name in given} == given
        assert shown["status"] == "overdue"
        [entry] = side.ledger.entries(draft)
        assert (entry.on, entry.amounts) == ("2025-03-04", side.trade.posted(500))
        assert entry.reference == shown[side.trade.number]
        assert side.read(draft) == shown

    @pytest.mark.parametrize("body", [None, {}])
    def test_without_a_day_it_is_now(self, side: Side, draft: Record, body: Record | None) -> None:
        shown = side.api.post(side.trade.of(draft, side.trade.move), json=body).json()
        assert (shown["status"], shown[side.trade.moment][:10]) == (side.trade.opened, str(today()))
        assert [entry.on for entry in side.ledger.entries(draft)] == [str(today())]

    def test_an_opened_draft_keeps_its_own_number(self, side: Side) -> None:
        draft = side.draft(**{side.trade.number: "Own-1"})
        shown = side.api.post(side.trade.of(draft, side.trade.move)).json()
        assert shown[side.trade.number] == "Own-1"

    def test_an_opened_draft_is_due_after_the_terms_of_its_party(self, side: Side) -> None:
        patient = side.somebody(payment_terms_days=10)
        draft = side.made(side.trade.path, side.trade.body(patient, **{side.trade.dated: DAY}))
        assert draft["due_at"] is None
        shown = side.api.post(
            side.trade.of(draft, side.trade.move), json={side.trade.moment: side.trade.at}
        ).json()
        assert shown["due_at"] == "2025-03-11T09:00:00Z"


class TestSendInvoice(Opening):
    trade = SALES

    def test_a_draft_of_an_archived_customer_cannot_be_sent(self, side: Side) -> None:
        gone = side.somebody()
        draft = side.made(side.trade.path, side.trade.body(gone))
        side.api.post(side.trade.of_party(gone, "archive"))
        body, fault = {"line_items": [line(2)], "sent_at": SENT}, (409, "customer_archived")
        assert side.ledger.refused("POST", side.trade.of(draft, "send")) == fault
        assert side.ledger.refused("PUT", side.trade.of(draft), json=body) == fault

    def test_an_archived_account_of_its_lines_is_active_again(self, side: Side) -> None:
        account = {"code": "4980", "name": "Seldom", "account_type": "revenue"}
        made = side.made(CHART, {**account, "account_subtype": "revenue"})
        draft = side.draft(line(account_identifier={"type": "AccountId", "id": made["id"]}))
        assert side.api.delete(f"{CHART}4980/").json()["is_active"] is False
        assert side.api.post(side.trade.of(draft, "send")).status_code == 200
        answer = side.api.get(f"{CHART}4980/")
        assert (answer.json()["is_active"], answer.headers["etag"]) == (True, '"3"')
        assert answer.json()["current_balance"] == 1_000


class TestReceiveBill(Opening):
    trade = PURCHASES

    def test_a_bill_is_posted_on_its_bill_date(self, side: Side) -> None:
        draft = side.draft(bill_date=DAY)
        shown = side.api.post(side.trade.of(draft, "receive")).json()
        assert (shown["received_at"][:10], shown["bill_date"]) == (str(today()), DAY)
        assert [entry.on for entry in side.ledger.entries(draft)] == [DAY]

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED", "ARCHIVED"])
    def test_a_draft_of_an_inactive_vendor_cannot_be_received(
        self, side: Side, status: str
    ) -> None:
        gone = side.somebody()
        draft = side.made(side.trade.path, side.trade.body(gone))
        if status == "ARCHIVED":
            side.api.post(side.trade.of_party(gone, "archive"))
        else:
            side.api.patch(side.trade.of_party(gone), json={"status": status})
        with side.ledger.untouched():
            answer = side.api.post(side.trade.of(draft, "receive"))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "vendor_not_active")
        assert answer.json()["detail"] == {"status": status, "vendor_id": gone["id"]}
        body = {"line_items": [line(2)], "received_at": RECEIVED}
        fault = side.ledger.refused("PUT", side.trade.of(draft), json=body)
        assert fault == (409, "vendor_not_active")


class Voiding:
    """void_invoice and void_bill."""

    def test_a_void_reverses_every_live_entry_with_a_link(self, side: Side) -> None:
        made = side.open(line_items=[line(900, tax_rate=20)], additional_discount=100)
        side.api.put(side.trade.of(made), json={"line_items": [line(700)]})
        day = {"voided_at": "2025-03-20T12:00:00Z"}
        answer = side.api.post(side.trade.of(made, "void"), json=day)
        shown = answer.json()
        assert (answer.status_code, shown["status"]) == (200, "voided")
        assert (shown["outstanding_balance"], shown["total_amount"]) == (0, 700)
        assert shown["voided_at"] == day["voided_at"]
        assert shown[side.trade.number] == made[side.trade.number]
        *standing, first, second = side.ledger.entries(made)
        assert {entry.on for entry in (first, second)} == {"2025-03-20"}
        assert [first.reversal_of, second.reversal_of] == [entry.id for entry in standing]
        for entry, mirror in zip(standing, (first, second), strict=True):
            assert mirror.lines == tuple((code, -amount) for code, amount in entry.lines)
        linked = side.api.get(f"{ENTRIES}{standing[0].id}/").json()
        assert linked["reversed_by_id"] == first.id
        assert side.api.get(f"{ENTRIES}{first.id}/").json()["reversal_of_id"] == standing[0].id

    def test_without_a_day_it_is_voided_today(self, side: Side, opened: Record) -> None:
        side.api.post(side.trade.of(opened, "void"))
        assert side.ledger.entries(opened)[-1].on == str(today())

    def test_a_void_is_dated_no_earlier_than_the_posting(self, side: Side, opened: Record) -> None:
        side.api.post(side.trade.of(opened, "void"), json={"voided_at": "2025-02-01T00:00:00Z"})
        assert side.ledger.entries(opened)[-1].on == DAY

    def test_not_while_it_is_credited(self, side: Side, opened: Record) -> None:
        side.credit(10, side.trade.share(opened, 10))
        with side.ledger.untouched():
            answer = side.api.post(side.trade.of(opened, "void"))
        assert answer.status_code == 409
        assert answer.json()["error_code"] == f"{side.trade.noun}_has_allocations"
        assert answer.json()["detail"]["credited"] == 10


class TestVoidInvoice(Voiding):
    trade = SALES


class TestVoidBill(Voiding):
    trade = PURCHASES

    def test_its_own_number_stays_taken(self, side: Side) -> None:
        bill = side.open(bill_number="Mine-7", vendor_bill_number="Theirs-7")
        side.api.post(side.trade.of(bill, "void"))
        again = side.body(bill_number="Mine-7")
        assert (
            side.api.post(side.trade.path, json=again).json()["error_code"]
            == "duplicate_bill_number"
        )
        assert side.draft(vendor_bill_number="Theirs-7")

    def test_a_bill_of_a_blocked_vendor_can_be_voided(self, side: Side) -> None:
        blocked = side.somebody()
        bill = side.trade.open(side.shop, blocked)
        side.api.patch(side.trade.of_party(blocked), json={"status": "BLOCKED"})
        assert side.api.post(side.trade.of(bill, "void")).json()["status"] == "voided"


class Deletion:
    """delete_invoice and delete_bill."""

    def test_a_draft_is_gone_for_good(self, side: Side, draft: Record) -> None:
        answer = side.api.delete(side.trade.of(draft))
        assert (answer.status_code, answer.json()) == (200, {"deleted": True})
        assert side.api.get(side.trade.of(draft)).status_code == 404
        assert side.api.delete(side.trade.of(draft)).status_code == 404
        assert (
            side.ledger.ask(f"SELECT 1 FROM {side.trade.noun} WHERE id = %(id)s", id=draft["id"])
            == []
        )

    def test_an_open_document_cannot_be_deleted(self, side: Side, opened: Record) -> None:
        fault = side.ledger.refused("DELETE", side.trade.of(opened))
        assert fault == (409, "invalid_state_transition")

    def test_its_external_id_and_numbers_are_free_again(self, side: Side) -> None:
        names = {"external_id": "once", **side.trade.numbered("Once")}
        draft = side.draft(**names)
        side.api.delete(side.trade.of(draft))
        assert side.draft(**names)["id"] != draft["id"]


class TestDeleteInvoice(Deletion):
    trade = SALES


class TestDeleteBill(Deletion):
    trade = PURCHASES

    def test_a_bill_that_a_credit_names_cannot_be_deleted(self, side: Side, draft: Record) -> None:
        side.credit(5, source_bill_id=draft["id"])
        fault = side.ledger.refused("DELETE", side.trade.of(draft))
        assert fault == (409, "bill_has_allocations")
