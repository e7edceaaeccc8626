"""send_invoice, void_invoice and delete_invoice: the moves of an invoice."""

import pytest

from tests.bookkeeping import Ledger, today
from tests.handlers.bodies import SENT, Record, invoice_body, line, paid, part, sent
from tests.partnership import Business


@pytest.fixture
def draft(shop: Business, buyer: Record) -> Record:
    return shop.made("invoices/", invoice_body(buyer, line(500)))


class TestSendInvoice:
    def test_a_draft_takes_its_number_and_is_posted(
        self, shop: Business, ledger: Ledger, draft: Record
    ) -> None:
        given = {"sent_at": "2025-03-04T10:00:00Z", "due_at": "2025-03-09T00:00:00Z"}
        answer = shop.api.post(f"invoices/{draft['id']}/send/", json=given)
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert shown["invoice_number"].startswith("INV-")
        assert {name: shown[name] for name in given} == given
        assert shown["status"] == "overdue"
        [entry] = ledger.entries(draft)
        assert (entry.on, entry.amounts) == ("2025-03-04", {"1200": 500, "4000": -500})
        assert entry.reference == shown["invoice_number"]
        assert shop.api.get(f"invoices/{draft['id']}/").json() == shown

    @pytest.mark.parametrize("body", [None, {}])
    def test_without_a_day_it_is_sent_now(
        self, shop: Business, ledger: Ledger, draft: Record, body: Record | None
    ) -> None:
        path = f"invoices/{draft['id']}/send/"
        shown = shop.api.post(path, **({} if body is None else {"json": body})).json()
        assert (shown["status"], shown["sent_at"][:10]) == ("sent", str(today()))
        assert [entry.on for entry in ledger.entries(draft)] == [str(today())]

    def test_it_keeps_a_number_of_its_own(self, shop: Business, buyer: Record) -> None:
        draft = shop.made("invoices/", invoice_body(buyer, invoice_number="Own-1"))
        shown = shop.api.post(f"invoices/{draft['id']}/send/").json()
        assert shown["invoice_number"] == "Own-1"

    def test_it_is_due_after_the_terms_of_its_customer(self, shop: Business) -> None:
        patient = shop.customer(payment_terms_days=10)
        draft = shop.made("invoices/", invoice_body(patient))
        assert draft["due_at"] is None
        shown = shop.api.post(f"invoices/{draft['id']}/send/", json={"sent_at": SENT}).json()
        assert shown["due_at"] == "2025-03-11T09:00:00Z"

    def test_it_is_sent_once(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        invoice = sent(shop, buyer)
        with ledger.untouched():
            answer = shop.api.post(f"invoices/{invoice['id']}/send/")
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invalid_state_transition"
        assert answer.json()["detail"] == {
            "current_state": "sent",
            "allowed_next_states": ["voided"],
        }

    def test_not_into_a_locked_period(self, shop: Business, ledger: Ledger, draft: Record) -> None:
        with ledger.locked("2025-03-31"), ledger.untouched():
            answer = shop.api.post(
                f"invoices/{draft['id']}/send/", json={"sent_at": "2025-03-31T00:00:00Z"}
            )
        assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")

    def test_not_to_an_archived_customer(self, shop: Business, ledger: Ledger) -> None:
        gone = shop.customer()
        draft = shop.made("invoices/", invoice_body(gone))
        shop.api.post(f"customers/{gone['id']}/archive/")
        for answer in (
            shop.api.post(f"invoices/{draft['id']}/send/"),
            shop.api.put(
                f"invoices/{draft['id']}/", json={"line_items": [line(2)], "sent_at": SENT}
            ),
        ):
            assert (answer.status_code, answer.json()["error_code"]) == (409, "customer_archived")

    def test_an_archived_account_of_its_lines_is_active_again(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        account = {"code": "4980", "name": "Seldom", "account_type": "revenue"}
        made = shop.made(
            "general-ledger/chart-of-accounts/", {**account, "account_subtype": "revenue"}
        )
        named = line(account_identifier={"type": "AccountId", "id": made["id"]})
        draft = shop.made("invoices/", invoice_body(buyer, named))
        archived = shop.api.delete("general-ledger/chart-of-accounts/4980/")
        assert archived.json()["is_active"] is False
        assert shop.api.post(f"invoices/{draft['id']}/send/").status_code == 200
        answer = shop.api.get("general-ledger/chart-of-accounts/4980/")
        assert answer.json()["is_active"] is True
        assert answer.headers["etag"] == '"3"'
        assert answer.json()["current_balance"] == 1_000

    def test_a_preview_sends_nothing(self, shop: Business, ledger: Ledger, draft: Record) -> None:
        with ledger.untouched():
            seen = shop.api.post(
                f"invoices/{draft['id']}/send/?preview=true", json={"sent_at": SENT}
            ).json()
        assert (seen["status"], seen["invoice_number"]) == ("sent", None)
        assert [each["entry_date"] for each in seen["journal_entries"]] == ["2025-03-01"]
        assert seen["journal_entries"][0]["reference"] is None

    def test_if_match_is_held_on_moves(self, shop: Business, ledger: Ledger, draft: Record) -> None:
        path = f"invoices/{draft['id']}/send/"
        with ledger.untouched():
            stale = shop.api.post(path, headers={"If-Match": '"2"'})
        assert stale.status_code == 412
        assert shop.api.post(path, headers={"If-Match": '"1"'}).status_code == 200


class TestVoidInvoice:
    def test_it_mirrors_every_entry_that_stands_and_links_them(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = shop.made(
            "invoices/",
            invoice_body(buyer, line(900, tax_rate=20), additional_discount=100, sent_at=SENT),
        )
        shop.api.put(f"invoices/{invoice['id']}/", json={"line_items": [line(700)]})
        answer = shop.api.post(
            f"invoices/{invoice['id']}/void/", json={"voided_at": "2025-03-20T12:00:00Z"}
        )
        shown = answer.json()
        assert (answer.status_code, shown["status"]) == (200, "voided")
        assert (shown["outstanding_balance"], shown["total_amount"]) == (0, 700)
        assert shown["voided_at"] == "2025-03-20T12:00:00Z"
        assert shown["invoice_number"] == invoice["invoice_number"]
        *standing, first, second = ledger.entries(invoice)
        assert {entry.on for entry in (first, second)} == {"2025-03-20"}
        assert [first.reversal_of, second.reversal_of] == [entry.id for entry in standing]
        for entry, mirror in zip(standing, (first, second), strict=True):
            assert mirror.lines == tuple((code, -amount) for code, amount in entry.lines)
        entries = "general-ledger/journal-entries/"
        linked = shop.api.get(f"{entries}{standing[0].id}/").json()
        assert linked["reversed_by_id"] == first.id
        assert shop.api.get(f"{entries}{first.id}/").json()["reversal_of_id"] == standing[0].id

    def test_without_a_day_it_is_voided_today(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer)
        shop.api.post(f"invoices/{invoice['id']}/void/")
        assert ledger.entries(invoice)[-1].on == str(today())

    def test_it_is_not_taken_back_before_the_day_it_was_posted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer)
        early = {"voided_at": "2025-02-01T00:00:00Z"}
        shop.api.post(f"invoices/{invoice['id']}/void/", json=early)
        assert ledger.entries(invoice)[-1].on == "2025-03-01"

    def test_what_stands_in_a_locked_period_is_taken_back_after_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer)
        with ledger.locked("2025-03-31"):
            with ledger.untouched():
                refused = shop.api.post(
                    f"invoices/{invoice['id']}/void/", json={"voided_at": "2025-03-31T00:00:00Z"}
                )
            shop.api.post(
                f"invoices/{invoice['id']}/void/", json={"voided_at": "2025-04-02T00:00:00Z"}
            )
        assert (refused.status_code, refused.json()["error_code"]) == (409, "period_locked")
        first, mirror = ledger.entries(invoice)
        assert (mirror.on, mirror.reversal_of) == ("2025-04-02", first.id)

    def test_one_of_nothing_posts_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 0)
        shown = shop.api.post(f"invoices/{invoice['id']}/void/").json()
        assert (shown["status"], shown["paid_at"]) == ("voided", None)
        assert ledger.entries(invoice) == []

    @pytest.mark.parametrize("status", ["completed", "processing"])
    def test_not_while_something_is_allocated(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        invoice = sent(shop, buyer)
        paid(shop, buyer, 10, part(invoice, 10), status=status)
        with ledger.untouched():
            answer = shop.api.post(f"invoices/{invoice['id']}/void/")
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invoice_has_allocations"
        assert answer.json()["detail"]["allocated"] == 10

    @pytest.mark.parametrize(
        ("moves", "state", "next_states"),
        [((), "draft", ["sent"]), (("send", "void"), "voided", [])],
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
            shop.api.post(f"invoices/{draft['id']}/{move}/")
        with ledger.untouched():
            answer = shop.api.post(f"invoices/{draft['id']}/void/")
        assert answer.json()["error_code"] == "invalid_state_transition"
        detail = {"current_state": state, "allowed_next_states": next_states}
        assert (answer.status_code, answer.json()["detail"]) == (409, detail)

    def test_a_preview_voids_nothing(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        invoice = sent(shop, buyer)
        with ledger.untouched():
            seen = shop.api.post(f"invoices/{invoice['id']}/void/?preview=true").json()
        assert seen["status"] == "voided"
        [mirror] = seen["journal_entries"]
        assert mirror["reversal_of_id"] == ledger.entries(invoice)[0].id
        assert mirror["sequence_number"] is None


class TestDeleteInvoice:
    def test_a_draft_is_gone_for_good(self, shop: Business, ledger: Ledger, draft: Record) -> None:
        answer = shop.api.delete(f"invoices/{draft['id']}/")
        assert (answer.status_code, answer.json()) == (200, {"deleted": True})
        assert shop.api.get(f"invoices/{draft['id']}/").status_code == 404
        assert shop.api.delete(f"invoices/{draft['id']}/").status_code == 404
        assert ledger.ask("SELECT 1 FROM invoice WHERE id = %(id)s", id=draft["id"]) == []

    def test_its_external_id_and_number_are_free_again(self, shop: Business, buyer: Record) -> None:
        names = {"external_id": "once more", "invoice_number": "Once-1"}
        draft = shop.made("invoices/", invoice_body(buyer, **names))
        shop.api.delete(f"invoices/{draft['id']}/")
        assert shop.made("invoices/", invoice_body(buyer, **names))["id"] != draft["id"]

    def test_what_was_sent_is_not_deleted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer)
        with ledger.untouched():
            answer = shop.api.delete(f"invoices/{invoice['id']}/")
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invalid_state_transition"

    def test_a_stale_version_is_not_deleted(
        self, shop: Business, ledger: Ledger, draft: Record
    ) -> None:
        path = f"invoices/{draft['id']}/"
        shop.api.put(path, json={"line_items": [line(1)]})
        with ledger.untouched():
            stale = shop.api.delete(path, headers={"If-Match": '"1"'})
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
        assert shop.api.delete(path, headers={"If-Match": '"2"'}).status_code == 200
