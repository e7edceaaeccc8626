"""The moves of an invoice and of a bill: sent or received, voided, deleted."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import BILLS, bill_body, received, vendor_credited
from tests.builders.sales import invoice_body
from tests.builders.trade import DAY, PURCHASES, RECEIVED, SALES, SENT, Record, Trade, line
from tests.clock import today
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"
ENTRIES = "general-ledger/journal-entries/"


@pytest.fixture
def draft(shop: Business, trade: Trade, party: Record) -> Record:
    return shop.made(trade.path, trade.body(party, line(500)))


@pytest.fixture
def opened(shop: Business, trade: Trade, party: Record) -> Record:
    return trade.open(shop, party)


class Opening:
    """send_invoice and receive_bill."""

    def test_a_draft_takes_its_number_and_is_posted(
        self, shop: Business, ledger: Ledger, trade: Trade, draft: Record
    ) -> None:
        given = {trade.moment: "2025-03-04T10:00:00Z", "due_at": "2025-03-09T00:00:00Z"}
        answer = shop.api.post(trade.of(draft, trade.move), json=given)
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert shown[trade.number].startswith(trade.series)
        assert {name: shown[name] for name in given} == given
        assert shown["status"] == "overdue"
        [entry] = ledger.entries(draft)
        assert (entry.on, entry.amounts) == ("2025-03-04", trade.posted(500))
        assert entry.reference == shown[trade.number]
        assert trade.read(shop, draft) == shown

    @pytest.mark.parametrize("body", [None, {}])
    def test_without_a_day_it_is_now(
        self, shop: Business, ledger: Ledger, trade: Trade, draft: Record, body: Record | None
    ) -> None:
        options = {} if body is None else {"json": body}
        shown = shop.api.post(trade.of(draft, trade.move), **options).json()
        assert (shown["status"], shown[trade.moment][:10]) == (trade.opened, str(today()))
        assert [entry.on for entry in ledger.entries(draft)] == [str(today())]

    def test_an_opened_draft_keeps_its_own_number(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        draft = shop.made(trade.path, trade.body(party, **{trade.number: "Own-1"}))
        shown = shop.api.post(trade.of(draft, trade.move)).json()
        assert shown[trade.number] == "Own-1"

    def test_an_opened_draft_is_due_after_the_terms_of_its_party(
        self, shop: Business, trade: Trade
    ) -> None:
        patient = trade.somebody(shop, payment_terms_days=10)
        draft = shop.made(trade.path, trade.body(patient, **{trade.dated: DAY}))
        assert draft["due_at"] is None
        moment = {trade.moment: trade.at}
        shown = shop.api.post(trade.of(draft, trade.move), json=moment).json()
        assert shown["due_at"] == "2025-03-11T09:00:00Z"

    def test_a_draft_is_opened_once(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(trade.of(opened, trade.move))
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invalid_state_transition"
        told = {"current_state": trade.opened, "allowed_next_states": ["voided"]}
        assert answer.json()["detail"] == told

    def test_not_into_a_locked_period(
        self, shop: Business, ledger: Ledger, trade: Trade, draft: Record
    ) -> None:
        moment = {trade.moment: "2025-03-31T00:00:00Z"}
        with ledger.locked("2025-03-31"):
            fault = ledger.refused("POST", trade.of(draft, trade.move), json=moment)
        assert fault == (409, "period_locked")

    def test_a_preview_opens_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, draft: Record
    ) -> None:
        path = f"{trade.of(draft, trade.move)}?preview=true"
        with ledger.untouched():
            seen = shop.api.post(path, json={trade.moment: trade.at}).json()
        assert (seen["status"], seen[trade.number]) == (trade.opened, None)
        assert [each["entry_date"] for each in seen["journal_entries"]] == [trade.at[:10]]
        assert seen["journal_entries"][0]["reference"] is None

    def test_a_key_and_a_version_are_held(
        self, shop: Business, ledger: Ledger, trade: Trade, draft: Record
    ) -> None:
        path = trade.of(draft, trade.move)
        stale = ledger.refused("POST", path, headers={"If-Match": '"2"'})
        assert stale == (412, "precondition_failed")
        headers = {"Idempotency-Key": str(uuid4()), "If-Match": '"1"'}
        first = shop.api.post(path, headers=headers)
        with ledger.untouched():
            again = shop.api.post(path, headers=headers)
        assert (first.status_code, again.content) == (200, first.content)


class TestSendInvoice(Opening):
    trade = SALES

    def test_not_to_an_archived_customer(self, shop: Business, ledger: Ledger) -> None:
        gone = shop.customer()
        draft = shop.made("invoices/", invoice_body(gone))
        shop.api.post(f"customers/{gone['id']}/archive/")
        path, body = f"invoices/{draft['id']}/", {"line_items": [line(2)], "sent_at": SENT}
        gone_too = (409, "customer_archived")
        assert ledger.refused("POST", f"{path}send/") == gone_too
        assert ledger.refused("PUT", path, json=body) == gone_too

    def test_an_archived_account_of_its_lines_is_active_again(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        account = {"code": "4980", "name": "Seldom", "account_type": "revenue"}
        made = shop.made(CHART, {**account, "account_subtype": "revenue"})
        named = line(account_identifier={"type": "AccountId", "id": made["id"]})
        draft = shop.made("invoices/", invoice_body(buyer, named))
        archived = shop.api.delete(f"{CHART}4980/")
        assert archived.json()["is_active"] is False
        assert shop.api.post(f"invoices/{draft['id']}/send/").status_code == 200
        answer = shop.api.get(f"{CHART}4980/")
        assert answer.json()["is_active"] is True
        assert answer.headers["etag"] == '"3"'
        assert answer.json()["current_balance"] == 1_000


class TestReceiveBill(Opening):
    trade = PURCHASES

    def test_a_bill_is_posted_on_its_bill_date(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        draft = shop.made(BILLS, bill_body(vendor, bill_date=DAY))
        shown = shop.api.post(f"{BILLS}{draft['id']}/receive/").json()
        assert (shown["received_at"][:10], shown["bill_date"]) == (str(today()), DAY)
        assert [entry.on for entry in ledger.entries(draft)] == [DAY]

    def test_a_bill_dated_in_a_locked_period_cannot_be_received(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        draft = shop.made(BILLS, bill_body(vendor, bill_date="2025-03-31"))
        with ledger.locked("2025-03-31"):
            fault = ledger.refused("POST", f"{BILLS}{draft['id']}/receive/")
        assert fault == (409, "period_locked")

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
        path, body = f"{BILLS}{draft['id']}/", {"line_items": [line(2)], "received_at": RECEIVED}
        with ledger.untouched():
            answer = shop.api.post(f"{path}receive/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "vendor_not_active")
        assert answer.json()["detail"] == {"status": status, "vendor_id": gone["id"]}
        assert ledger.refused("PUT", path, json=body) == (409, "vendor_not_active")


class Voiding:
    """void_invoice and void_bill."""

    def test_a_void_reverses_every_live_entry_with_a_link(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        lines = [line(900, tax_rate=20)]
        made = trade.open(shop, party, line_items=lines, additional_discount=100)
        shop.api.put(trade.of(made), json={"line_items": [line(700)]})
        day = {"voided_at": "2025-03-20T12:00:00Z"}
        answer = shop.api.post(trade.of(made, "void"), json=day)
        shown = answer.json()
        assert (answer.status_code, shown["status"]) == (200, "voided")
        assert (shown["outstanding_balance"], shown["total_amount"]) == (0, 700)
        assert shown["voided_at"] == day["voided_at"]
        assert shown[trade.number] == made[trade.number]
        *standing, first, second = ledger.entries(made)
        assert {entry.on for entry in (first, second)} == {"2025-03-20"}
        assert [first.reversal_of, second.reversal_of] == [entry.id for entry in standing]
        for entry, mirror in zip(standing, (first, second), strict=True):
            assert mirror.lines == tuple((code, -amount) for code, amount in entry.lines)
        linked = shop.api.get(f"{ENTRIES}{standing[0].id}/").json()
        assert linked["reversed_by_id"] == first.id
        assert shop.api.get(f"{ENTRIES}{first.id}/").json()["reversal_of_id"] == standing[0].id

    def test_without_a_day_it_is_voided_today(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        shop.api.post(trade.of(opened, "void"))
        assert ledger.entries(opened)[-1].on == str(today())

    def test_a_void_is_dated_no_earlier_than_the_posting(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        shop.api.post(trade.of(opened, "void"), json={"voided_at": "2025-02-01T00:00:00Z"})
        assert ledger.entries(opened)[-1].on == DAY

    def test_a_document_in_a_locked_period_is_voided_after_the_lock(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        path = trade.of(opened, "void")
        inside, after = ({"voided_at": f"2025-{day}T00:00:00Z"} for day in ("03-31", "04-02"))
        with ledger.locked("2025-03-31"):
            fault = ledger.refused("POST", path, json=inside)
            shop.api.post(path, json=after)
        assert fault == (409, "period_locked")
        first, mirror = ledger.entries(opened)
        assert (mirror.on, mirror.reversal_of) == ("2025-04-02", first.id)

    @pytest.mark.parametrize("status", ["completed", "processing"])
    def test_not_while_money_is_allocated(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, opened: Record,
        status: str,
    ) -> None:  # fmt: skip
        trade.pay(shop, party, 10, trade.part(opened, 10), status=status)
        with ledger.untouched():
            answer = shop.api.post(trade.of(opened, "void"))
        assert answer.status_code == 409
        assert answer.json()["error_code"] == f"{trade.noun}_has_allocations"
        assert answer.json()["detail"]["allocated"] == 10

    def test_not_while_it_is_credited(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, opened: Record
    ) -> None:
        trade.credit(shop, party, 10, trade.share(opened, 10))
        with ledger.untouched():
            answer = shop.api.post(trade.of(opened, "void"))
        assert answer.status_code == 409
        assert answer.json()["error_code"] == f"{trade.noun}_has_allocations"
        assert answer.json()["detail"]["credited"] == 10

    @pytest.mark.parametrize("voided", [False, True])
    def test_only_an_open_one_is_voided_and_only_once(
        self, shop: Business, ledger: Ledger, trade: Trade, draft: Record, voided: bool
    ) -> None:
        for move in (trade.move, "void") if voided else ():
            shop.api.post(trade.of(draft, move))
        with ledger.untouched():
            answer = shop.api.post(trade.of(draft, "void"))
        assert answer.json()["error_code"] == "invalid_state_transition"
        state, following = ("voided", []) if voided else ("draft", [trade.opened])
        detail = {"current_state": state, "allowed_next_states": following}
        assert (answer.status_code, answer.json()["detail"]) == (409, detail)

    def test_a_preview_voids_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        with ledger.untouched():
            seen = shop.api.post(f"{trade.of(opened, 'void')}?preview=true").json()
        [mirror] = seen["journal_entries"]
        assert (seen["status"], mirror["sequence_number"]) == ("voided", None)
        assert mirror["reversal_of_id"] == ledger.entries(opened)[0].id

    def test_a_document_of_zero_posts_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        made = trade.open(shop, party, 0)
        shown = shop.api.post(trade.of(made, "void")).json()
        assert (shown["status"], shown["paid_at"]) == ("voided", None)
        assert ledger.entries(made) == []


class TestVoidInvoice(Voiding):
    trade = SALES


class TestVoidBill(Voiding):
    trade = PURCHASES

    def test_its_own_number_stays_taken(self, shop: Business, vendor: Record) -> None:
        bill = received(shop, vendor, bill_number="Mine-7", vendor_bill_number="Theirs-7")
        shop.api.post(f"{BILLS}{bill['id']}/void/")
        again = bill_body(vendor, bill_number="Mine-7")
        assert shop.api.post(BILLS, json=again).json()["error_code"] == "duplicate_bill_number"
        assert shop.made(BILLS, bill_body(vendor, vendor_bill_number="Theirs-7"))

    def test_a_vendor_that_is_blocked_keeps_nobody_from_it(self, shop: Business) -> None:
        doubtful = shop.vendor()
        bill = received(shop, doubtful)
        shop.api.patch(f"vendors/{doubtful['id']}/", json={"status": "BLOCKED"})
        assert shop.api.post(f"{BILLS}{bill['id']}/void/").json()["status"] == "voided"


class Deleting:
    """delete_invoice and delete_bill."""

    def test_a_draft_is_gone_for_good(
        self, shop: Business, ledger: Ledger, trade: Trade, draft: Record
    ) -> None:
        answer = shop.api.delete(trade.of(draft))
        assert (answer.status_code, answer.json()) == (200, {"deleted": True})
        assert shop.api.get(trade.of(draft)).status_code == 404
        assert shop.api.delete(trade.of(draft)).status_code == 404
        assert ledger.ask(f"SELECT 1 FROM {trade.noun} WHERE id = %(id)s", id=draft["id"]) == []

    def test_its_external_id_and_numbers_are_free_again(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        names = {"external_id": "once", **trade.numbered("Once")}
        draft = shop.made(trade.path, trade.body(party, **names))
        shop.api.delete(trade.of(draft))
        assert shop.made(trade.path, trade.body(party, **names))["id"] != draft["id"]

    def test_an_open_document_cannot_be_deleted(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        fault = ledger.refused("DELETE", trade.of(opened))
        assert fault == (409, "invalid_state_transition")


class TestDeleteInvoice(Deleting):
    trade = SALES


class TestDeleteBill(Deleting):
    trade = PURCHASES

    def test_a_bill_that_a_credit_names_cannot_be_deleted(
        self, shop: Business, ledger: Ledger, vendor: Record, draft: Record
    ) -> None:
        vendor_credited(shop, vendor, 5, source_bill_id=draft["id"])
        fault = ledger.refused("DELETE", f"{BILLS}{draft['id']}/")
        assert fault == (409, "bill_has_allocations")
