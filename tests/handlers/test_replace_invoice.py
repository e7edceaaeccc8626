"""replace_invoice: what a PUT keeps, clears, posts and refuses."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.handlers.bodies import NOBODY, SENT, Record, invoice_body, line, paid, part, sent
from tests.partnership import Business


def put(shop: Business, invoice: Record, **body: object) -> Record:
    answer = shop.api.put(f"invoices/{invoice['id']}/", json=body)
    assert answer.status_code == 200, answer.text
    replaced: Record = answer.json()
    return replaced


class TestReplaceInvoice:
    def test_it_keeps_identity_and_clears_what_is_absent(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        before = sent(
            shop,
            buyer,
            1_000,
            external_id="kept",
            invoice_number="K-1",
            issue_date="2025-03-01",
            due_at="2025-04-01T00:00:00Z",
            memo="gone",
            transaction_tags=["gone"],
            metadata={"gone": 1},
            additional_discount=100,
        )
        after = put(shop, before, line_items=[line(1_000)])
        kept = (
            *("id", "external_id", "invoice_number", "sent_at", "customer", "currency"),
            "created_at",
        )
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        cleared = ("issue_date", "due_at", "memo", "metadata")
        assert {name: after[name] for name in cleared} == dict.fromkeys(cleared)
        assert (after["transaction_tags"], after["additional_discount"]) == ([], 0)
        assert (before["status"], after["status"]) == ("overdue", "sent")
        assert after["updated_at"] > before["updated_at"]
        assert after["line_items"][0]["id"] == before["line_items"][0]["id"]
        assert shop.api.get(f"invoices/{before['id']}/").json() == after

    def test_it_takes_every_field_anew(self, shop: Business, buyer: Record) -> None:
        other = shop.customer(company_name="Someone else")
        draft = shop.made("invoices/", invoice_body(buyer))
        given = {
            "external_id": "given-later",
            "invoice_number": "Given-1",
            "issue_date": "2025-03-03",
            "due_at": "2025-05-01T00:00:00Z",
            "memo": "new",
            "transaction_tags": ["new"],
            "metadata": {"new": True},
            "additional_discount": 5,
        }
        after = put(shop, draft, customer_id=other["id"], line_items=[line(7, 3), line(1)], **given)
        assert {name: after[name] for name in given} == given
        assert after["customer"]["name"] == "Someone else"
        assert (after["total_amount"], after["status"]) == (17, "draft")

    def test_a_change_posts_its_difference_on_the_invoices_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        put(shop, invoice, line_items=[line(800, tax_rate=10)], sent_at=SENT)
        put(shop, invoice, line_items=[line(1_000)])
        assert ledger.postings(invoice) == [
            ("2025-03-01", {"1200": 1_000, "4000": -1_000}),
            ("2025-03-01", {"1200": -120, "4000": 200, "2200": -80}),
            ("2025-03-01", {"1200": 120, "4000": -200, "2200": 80}),
        ]
        assert not any(entry.reversal_of for entry in ledger.entries(invoice))

    def test_a_changed_day_is_taken_back_there_and_posted_anew(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        put(shop, invoice, line_items=[line(1_000)], sent_at="2025-03-05T00:00:00Z")
        assert ledger.postings(invoice)[1:] == [
            ("2025-03-01", {"1200": -1_000, "4000": 1_000}),
            ("2025-03-05", {"1200": 1_000, "4000": -1_000}),
        ]

    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        with ledger.locked("2025-03-31"):
            put(shop, invoice, line_items=[line(1_100)])
            moved = shop.api.put(
                f"invoices/{invoice['id']}/",
                json={"line_items": [line(1_100)], "sent_at": "2025-03-20T00:00:00Z"},
            )
        assert ledger.postings(invoice)[1:] == [("2025-04-01", {"1200": 100, "4000": -100})]
        assert (moved.status_code, moved.json()["error_code"]) == (409, "period_locked")

    def test_a_moment_within_the_same_day_posts_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer)
        after = put(shop, invoice, line_items=[line()], sent_at="2025-03-01T18:00:00Z")
        assert after["sent_at"] == "2025-03-01T18:00:00Z"
        assert len(ledger.entries(invoice)) == 1

    def test_a_sent_at_sends_a_draft(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        draft = shop.made("invoices/", invoice_body(buyer))
        after = put(shop, draft, line_items=[line(50)], sent_at=SENT)
        assert (after["status"], after["sent_at"]) == ("sent", SENT)
        assert after["invoice_number"].startswith("INV-")
        assert ledger.postings(draft) == [("2025-03-01", {"1200": 50, "4000": -50})]

    def test_the_same_again_changes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, memo="same")
        with ledger.untouched():
            answer = shop.api.put(
                f"invoices/{invoice['id']}/", json=invoice_body(buyer, memo="same")
            )
        assert answer.json() == invoice
        assert answer.headers["etag"] == '"1"'

    def test_it_is_free_again_once_nothing_is_allocated(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        shop.api.patch(f"invoices/payments/{payment['id']}/", json={"allocations": []})
        assert put(shop, invoice, line_items=[line(900)])["total_amount"] == 900

    def test_a_preview_shows_the_difference_and_writes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        with ledger.untouched():
            seen = shop.api.put(
                f"invoices/{invoice['id']}/?preview=true", json={"line_items": [line(1_500)]}
            )
        assert seen.json()["total_amount"] == 1_500
        [entry] = seen.json()["journal_entries"]
        assert (entry["sequence_number"], entry["total_debit"]) == (None, 500)
        assert entry["entry_date"] == "2025-03-01"

    def test_if_match_lets_only_the_version_it_names_be_replaced(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        path, body = f"invoices/{invoice['id']}/", {"line_items": [line(2_000)]}
        first = shop.api.put(path, json=body, headers={"If-Match": '"1"'})
        assert (first.status_code, first.headers["etag"]) == (200, '"2"')
        for stale in ('"1"', 'W/"2"', '"3"'):
            with ledger.untouched():
                answer = shop.api.put(path, json={**body, "memo": "x"}, headers={"If-Match": stale})
            assert answer.status_code == 412
            assert answer.json()["error_code"] == "precondition_failed"
            assert answer.json()["detail"]["current_etag"] == '"2"'
        for fresh in ('"2"', "*"):
            answer = shop.api.put(path, json=body, headers={"If-Match": fresh})
            assert answer.status_code == 200

    def test_a_key_repeats_the_answer_of_a_put(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        key = {"Idempotency-Key": str(uuid4()), "If-Match": '"1"'}
        path, body = f"invoices/{invoice['id']}/", {"line_items": [line(2_000)]}
        first = shop.api.put(path, json=body, headers=key)
        with ledger.untouched():
            again = shop.api.put(path, json=body, headers=key)
        assert again.content == first.content
        assert again.headers["idempotent-replayed"] == "true"


class TestRefusalsOfReplaceInvoice:
    @pytest.mark.parametrize("status", ["completed", "pending"])
    def test_nothing_changes_while_something_is_allocated(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 10, part(invoice, 10), status=status)
        with ledger.untouched():
            answer = shop.api.put(f"invoices/{invoice['id']}/", json={"line_items": [line(2)]})
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invoice_has_allocations"

    def test_a_void_one_stays_as_it_is(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        invoice = sent(shop, buyer)
        shop.api.post(f"invoices/{invoice['id']}/void/")
        with ledger.untouched():
            answer = shop.api.put(f"invoices/{invoice['id']}/", json={"line_items": [line(2)]})
        assert answer.json()["error_code"] == "invalid_state_transition"
        assert answer.json()["detail"] == {"current_state": "voided", "allowed_next_states": []}

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"invoice_number": "Taken-1"}, 409, "duplicate_invoice_number"),
            ({"external_id": "taken"}, 409, "duplicate_external_id"),
            ({"customer_id": NOBODY}, 422, "reference_not_found"),
            ({"currency": "USD"}, 422, "currency_mismatch"),
            ({"additional_discount": 2_000}, 422, "negative_amount"),
            ({"line_items": [line(99_999_999_999_999, 3)]}, 422, "amount_too_large"),
            (
                {"line_items": [line(account_identifier={"type": "AccountCode", "code": "2100"})]},
                422,
                "control_account",
            ),
            (
                {"line_items": [line(account_identifier={"type": "AccountId", "id": NOBODY})]},
                422,
                "reference_not_found",
            ),
            ({"line_items": []}, 400, "validation_error"),
            ({"payments": []}, 400, "validation_error"),
        ],
    )
    def test_it_refuses_and_changes_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        shop.api.post(
            "invoices/",
            json=invoice_body(buyer, external_id="taken", invoice_number="Taken-1"),
        )
        invoice = sent(shop, buyer)
        with ledger.untouched():
            answer = shop.api.put(
                f"invoices/{invoice['id']}/", json={"line_items": [line(1_500)], **facts}
            )
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    def test_the_two_names_of_the_customer_agree(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer)
        both = {"customer_id": buyer["id"], "customer_external_id": "unheard of"}
        with ledger.untouched():
            answer = shop.api.put(
                f"invoices/{invoice['id']}/", json={"line_items": [line(2)], **both}
            )
        assert (answer.status_code, answer.json()["error_code"]) == (422, "reference_mismatch")

    def test_it_does_not_move_to_an_archived_customer(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        gone = shop.customer()
        shop.api.post(f"customers/{gone['id']}/archive/")
        invoice = sent(shop, buyer)
        with ledger.untouched():
            answer = shop.api.put(f"invoices/{invoice['id']}/", json=invoice_body(gone, line(2)))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "customer_archived")
