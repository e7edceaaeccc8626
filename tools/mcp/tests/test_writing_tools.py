"""The pairs that write: what a preview saves, what a commit sends, and which ids it refuses."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tests.builders.bank import BOOKED, Bank
from tests.builders.journal_entries import credit, debit
from tests.builders.trade import NOBODY, line
from tests.partner import Business
from tools.mcp.definitions import WRITING
from tools.mcp.previews import LIFETIME_SECONDS, MOST_KEPT
from tools.mcp.tests.agent import Agent, with_token

SUBJECTS = [tool.name.removeprefix("commit_") for tool in WRITING if tool.commits]
BY_AI = {"created_by": "ai"}


def given(subject: str, books: SimpleNamespace) -> dict[str, Any]:
    """Return arguments that preview a write of a subject."""
    money = {"currency": "GBP", "payment_method": "bank_transfer", "payment_date": "2025-03-10"}
    part = {"invoice_id": books.invoice["id"], "amount_cents": 100}
    fee = books.bank.line(-350)
    taken = books.bank.line(700, date="2025-03-20")
    made: dict[str, dict[str, Any]] = {
        "invoice": {"customer_id": books.buyer["id"], "line_items": [line(700)]},
        "bill": {"vendor_id": books.vendor["id"], "line_items": [line(700)]},
        "payment": {
            "customer_id": books.buyer["id"],
            "amount_cents": 700,
            "allocations": [part],
            "note": "by phone",
            **money,
        },
        "bank_match": {
            "bank_transaction_id": taken["id"],
            "target_type": "invoice_payment",
            "target_id": books.payment["id"],
            "amount_cents": 700,
        },
        "bank_category": {"bank_transaction_id": fee["id"], "account": "6300"},
        "journal_entry": {"entry_date": BOOKED, "lines": [debit("6300", 90), credit("2200", 90)]},
    }
    return made[subject]


@pytest.fixture
def preview(agent: Agent, books: SimpleNamespace) -> Iterator[Any]:
    return agent.read("preview_invoice", **given("invoice", books))


class TestEachPair:
    @pytest.mark.parametrize("subject", SUBJECTS)
    def test_saves_by_its_commit_alone_and_once(
        self, agent: Agent, books: SimpleNamespace, shop: Business, subject: str
    ) -> None:
        arguments = given(subject, books)
        before = trail(shop)
        preview = agent.read(f"preview_{subject}", **arguments)
        assert trail(shop) == before
        committed = agent.read(f"commit_{subject}", preview_id=preview["preview_id"])
        assert committed["saved"]
        assert committed["digest"] == preview["digest"]
        after = trail(shop)
        assert after > before
        refusal = agent.call(f"commit_{subject}", preview_id=preview["preview_id"]).refusal
        assert "committed or refused already" in refusal
        assert trail(shop) == after

    @pytest.mark.parametrize("subject", SUBJECTS)
    def test_is_neither_listed_nor_run_for_a_token_that_reads(
        self, reader: Agent, books: SimpleNamespace, subject: str
    ) -> None:
        names = (f"preview_{subject}", f"commit_{subject}")
        assert not {*names} & reader.tools().keys()
        for name in names:
            assert "needs a token that writes" in reader.call(name, preview_id="x").refusal


class TestMark:
    """The mark of what an agent wrote."""

    @pytest.mark.parametrize("subject", ["invoice", "bill"])
    def test_of_a_document_is_in_its_metadata_and_it_is_a_draft(
        self, agent: Agent, books: SimpleNamespace, subject: str
    ) -> None:
        record = agent.saved(subject, **given(subject, books))["record"]
        assert (record["metadata"], record["status"]) == (BY_AI, "draft")

    def test_of_a_payment_is_in_its_metadata(self, agent: Agent, books: SimpleNamespace) -> None:
        saved = agent.saved("payment", **given("payment", books))["record"]["payment"]
        assert (saved["metadata"], saved["total_amount_cents"], saved["note"]) == (
            BY_AI,
            700,
            "by phone",
        )

    def test_of_an_entry_is_its_author_and_it_is_a_draft(
        self, agent: Agent, books: SimpleNamespace
    ) -> None:
        record = agent.saved("journal_entry", **given("journal_entry", books))["record"]
        assert (record["created_by"], record["status"]) == ("ai", "draft")

    def test_cannot_be_replaced_by_the_agent(self, agent: Agent, books: SimpleNamespace) -> None:
        for subject, name in (("invoice", "metadata"), ("journal_entry", "created_by")):
            arguments = {**given(subject, books), name: "manual"}
            refusal = agent.call(f"preview_{subject}", **arguments).refusal
            assert "The arguments of" in refusal
            assert name in refusal


class TestPayment:
    def test_to_a_vendor_is_of_a_bill(self, agent: Agent, books: SimpleNamespace) -> None:
        arguments = {
            "vendor_id": books.vendor["id"],
            "amount_cents": 300,
            "allocations": [{"bill_id": books.bill["id"], "amount_cents": 300}],
            "payment_date": "2025-03-12",
            "currency": "GBP",
            "payment_method": "wire",
            "note": "half",
        }
        preview = agent.read("preview_payment", **arguments)["preview"]
        [entry] = preview["journal_entries"]
        assert entry["total_debit"] == 300
        saved = agent.saved("payment", **arguments)["record"]["payment"]
        assert (saved["amount_cents"], saved["memo"], saved["metadata"]) == (300, "half", BY_AI)

    def test_needs_one_party(self, agent: Agent, books: SimpleNamespace) -> None:
        arguments = {**given("payment", books), "vendor_id": books.vendor["id"]}
        assert "either `customer_id`" in agent.call("preview_payment", **arguments).refusal


class TestRefusal:
    def test_of_a_preview_names_field_reason_and_remedy(
        self, agent: Agent, books: SimpleNamespace
    ) -> None:
        lines = [{**line(700), "tax_rate": 200}]
        arguments = {**given("invoice", books), "line_items": lines}
        told = agent.call("preview_invoice", **arguments).refusal.splitlines()
        assert "400 validation_error" in told[0]
        assert told[1].startswith("- line_items.0.tax_rate: ")
        assert told[2].startswith("What to do: Correct what `field_errors` names.")
        assert told[3].startswith("Request id: ")
        assert "Traceback" not in "".join(told)

    def test_of_a_rule_has_the_facts(self, agent: Agent, books: SimpleNamespace) -> None:
        arguments = {**given("invoice", books), "customer_id": NOBODY}
        refusal = agent.call("preview_invoice", **arguments).refusal
        assert "422 reference_not_found" in refusal
        assert NOBODY in refusal or "customer_id" in refusal

    @pytest.mark.parametrize(
        ("changes", "place"),
        [
            ({"line_items": [{"quantity": 1, "unit_price": "7.00"}]}, "line_items.0.unit_price"),
            ({"customer_id": "Blue Door"}, "customer_id"),
            ({"due_at": "tomorrow"}, "due_at"),
            ({"additional_discount": 10**17}, "additional_discount"),
        ],
    )
    def test_of_arguments_names_their_place(
        self, agent: Agent, books: SimpleNamespace, changes: dict[str, Any], place: str
    ) -> None:
        arguments = {**given("invoice", books), **changes}
        told = agent.call("preview_invoice", **arguments).refusal.splitlines()
        assert told[0] == "The arguments of preview_invoice are not valid."
        assert told[1].startswith(f"- {place}: ")

    def test_an_absent_argument_may_be_null(self, agent: Agent, books: SimpleNamespace) -> None:
        assert agent.read("preview_invoice", **given("invoice", books), memo=None)

    def test_a_list_may_be_its_json_text(self, agent: Agent, books: SimpleNamespace) -> None:
        arguments = given("invoice", books)
        text = json.dumps(arguments["line_items"])
        preview = agent.read("preview_invoice", **{**arguments, "line_items": text})
        assert preview["body"]["line_items"] == arguments["line_items"]
        for wrong in ("[{", "7", "House blend"):
            told = agent.call("preview_invoice", **{**arguments, "line_items": wrong}).refusal
            assert "- line_items: " in told


class TestPreviewId:
    def test_unknown(self, agent: Agent) -> None:
        refusal = agent.call("commit_invoice", preview_id="preview-0").refusal
        assert refusal.startswith("There is no preview preview-0. Call the preview tool again")

    def test_of_another_pair(self, agent: Agent, preview: Any) -> None:
        refusal = agent.call("commit_bill", preview_id=preview["preview_id"]).refusal
        assert refusal == "This preview is committed by commit_invoice, not by commit_bill."
        assert agent.read("commit_invoice", preview_id=preview["preview_id"])["saved"]

    def test_of_another_process(self, shop: Business, preview: Any) -> None:
        with Agent(with_token(shop)) as other:
            refusal = other.call("commit_invoice", preview_id=preview["preview_id"]).refusal
        assert "There is no preview" in refusal

    def test_expired(self, shop: Business, books: SimpleNamespace) -> None:
        clock = [0.0]
        with Agent(with_token(shop), now=lambda: clock[0]) as agent:
            ids = [
                agent.read("preview_invoice", **given("invoice", books))["preview_id"]
                for _ in range(2)
            ]
            clock[0] = LIFETIME_SECONDS
            assert agent.read("commit_invoice", preview_id=ids[0])["saved"]
            clock[0] = LIFETIME_SECONDS + 1
            assert "has expired" in agent.call("commit_invoice", preview_id=ids[1]).refusal

    def test_takes_no_other_argument(self, agent: Agent, preview: Any) -> None:
        refusal = agent.call(
            "commit_invoice", preview_id=preview["preview_id"], memo="more"
        ).refusal
        assert "memo" in refusal

    def test_of_the_oldest_of_too_many_is_forgotten(self, agent: Agent) -> None:
        kept = agent.server._context.previews
        first = kept.keep("commit_bill", "bills/", b"{}", None)
        for _ in range(MOST_KEPT):
            kept.keep("commit_bill", "bills/", b"{}", None)
        assert "There is no preview" in agent.call("commit_bill", preview_id=first.id).refusal


class TestCommit:
    def test_sends_the_very_body_with_a_key(self, shop: Business, books: SimpleNamespace) -> None:
        sent: list[httpx.Request] = []

        async def keep(request: httpx.Request) -> None:
            if request.method == "POST":
                sent.append(request)

        with Agent(with_token(shop)) as agent:
            agent.api._http.event_hooks = {"request": [keep]}
            shown = agent.read("preview_invoice", **given("invoice", books))
            agent.read("commit_invoice", preview_id=shown["preview_id"])
        previewed, committed = sent
        assert previewed.content == committed.content
        assert json.loads(committed.content) == shown["body"]
        assert (previewed.url.query, committed.url.query) == (b"preview=true", b"")
        assert "Idempotency-Key" not in previewed.headers
        assert committed.headers["Idempotency-Key"] == f"mcp-{shown['preview_id']}"

    def test_refused_by_the_api_uses_the_preview_up(
        self, agent: Agent, books: SimpleNamespace, shop: Business
    ) -> None:
        arguments = {**given("invoice", books), "invoice_number": "AGENT-1"}
        ids = [agent.read("preview_invoice", **arguments)["preview_id"] for _ in range(2)]
        assert agent.read("commit_invoice", preview_id=ids[0])["saved"]
        refusal = agent.call("commit_invoice", preview_id=ids[1]).refusal
        assert "409 duplicate_invoice_number" in refusal
        assert "Nothing was saved, and this preview is used up." in refusal
        again = agent.call("commit_invoice", preview_id=ids[1]).refusal
        assert "committed or refused already" in again

    def test_of_a_bank_transaction_that_changed_since_is_refused(
        self, agent: Agent, books: SimpleNamespace, shop: Business
    ) -> None:
        bank: Bank = books.bank
        fee = bank.line(-350)
        arguments = {"bank_transaction_id": fee["id"], "account": "6300"}
        preview = agent.read("preview_bank_category", **arguments)
        bank.done(fee, "categorize", {"account": "6300"})
        bank.done(fee, "uncategorize")
        refusal = agent.call("commit_bank_category", preview_id=preview["preview_id"]).refusal
        assert "412 precondition_failed" in refusal

    def test_whose_answer_is_lost_is_repeated_and_takes_effect_once(
        self, shop: Business, books: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Agent(with_token(shop)) as agent:
            shown = agent.read("preview_invoice", **given("invoice", books))
            count = agent.read("find", kinds=["invoice"])["invoice"]["count"]
            send = agent.api._http.send

            async def lose(request: httpx.Request, **options: Any) -> httpx.Response:
                await send(request, **options)
                raise httpx.ReadError("the connection broke", request=request)

            monkeypatch.setattr(agent.api._http, "send", lose)
            refusal = agent.call("commit_invoice", preview_id=shown["preview_id"]).refusal
            assert "No answer from" in refusal
            assert "Commit this preview id again: it takes effect once." in refusal
            monkeypatch.undo()
            assert agent.read("commit_invoice", preview_id=shown["preview_id"])["saved"]
            assert agent.read("find", kinds=["invoice"])["invoice"]["count"] == count + 1

    @pytest.mark.parametrize(
        ("status", "code", "open_again"),
        [
            (502, "bad_gateway", True),
            (500, "internal_error", True),
            (409, "idempotency_in_progress", True),
            (409, "period_locked", False),
            (403, "permission_denied", False),
        ],
    )
    def test_may_be_repeated_unless_the_answer_is_final(
        self,
        agent: Agent,
        preview: Any,
        monkeypatch: pytest.MonkeyPatch,
        status: int,
        code: str,
        open_again: bool,
    ) -> None:
        async def fail(request: httpx.Request, **_options: Any) -> httpx.Response:
            return httpx.Response(status, json={"error_code": code}, request=request)

        preview_id = preview["preview_id"]
        monkeypatch.setattr(agent.api._http, "send", fail)
        refusal = agent.call("commit_invoice", preview_id=preview_id).refusal
        monkeypatch.undo()
        assert ("Commit this preview id again" in refusal) is open_again
        assert agent.call("commit_invoice", preview_id=preview_id).is_error is not open_again


def trail(shop: Business) -> int:
    """Return the number of records in the audit trail."""
    count: int = shop.api.get("audit/", params={"page_size": 1}).json()["count"]
    return count
