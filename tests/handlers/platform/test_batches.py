"""Batches: their modes, their refusals, what is saved, and what is not."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import psycopg
import pytest

from accounting.errors import Conflict
from persistence.engine.tenants import MovedClock
from persistence.engine.transaction import run_together, writing
from server.http import batches
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.files import PDF, follow, in_json, kept
from tests.builders.journal_entries import credit, debit, entry_body, posted
from tests.builders.trade import NOBODY, SENT, line, unwarned
from tests.partner import Business, Partner

Item = dict[str, Any]
MIB = 1024 * 1024
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]+Z")
GROUP = 50  # Items of an independent batch that are saved together.


def item(operation: str, body: Any = None, **facts: Any) -> Item:
    return {"key": operation, "operation": operation, "body": body, **facts}


def keyed(*items: Item) -> list[Item]:
    return [{**each, "key": f"{each['key']} {place}"} for place, each in enumerate(items)]


def invoice(customer: str, price: int = 1_000, **facts: Any) -> Item:
    body = {"customer_external_id": customer, "sent_at": SENT, "line_items": [line(price)]}
    return item("create_invoice", {**body, **facts})


def run(shop: Business, mode: str, *items: Item, **options: Any) -> httpx.Response:
    body = {"mode": mode, "items": keyed(*items)}
    return shop.api.post("batch/", json=body, **options)


def ran(shop: Business, mode: str, *items: Item, **options: Any) -> dict[str, Any]:
    answer = run(shop, mode, *items, **options)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    assert shown["succeeded"] + shown["failed"] == len(shown["results"]) == len(items)
    return shown


def statuses(shown: dict[str, Any]) -> list[int | None]:
    return [each["status"] for each in shown["results"]]


def codes(shown: dict[str, Any]) -> list[str | None]:
    return [(each["body"] or {}).get("error_code") for each in shown["results"]]


def count(shop: Business, path: str) -> int:
    return int(shop.api.get(f"{path}/?count=true").json()["count"])


def faults(answer: httpx.Response) -> dict[str, list[str]]:
    assert answer.status_code == 400, answer.text
    found: dict[str, list[str]] = answer.json()["detail"]["field_errors"]
    return found


MODES = pytest.mark.parametrize("mode", ["atomic", "independent"])


class TestRunBatch:
    @MODES
    def test_a_later_item_finds_what_the_earlier_ones_recorded(
        self, shop: Business, ledger: Ledger, mode: str
    ) -> None:
        shown = ran(
            shop,
            mode,
            item("create_customer", {"external_id": f"new {mode}", "company_name": "New Ltd"}),
            invoice(f"new {mode}", 12_000, external_id=f"first {mode}"),
            invoice(f"new {mode}", 12_000, external_id=f"first {mode}"),
            item("create_account", {**ACCOUNT, "code": f"41{len(mode)}", "name": mode}),
            invoice(f"new {mode}", line_items=[line(account_identifier=code(f"41{len(mode)}"))]),
        )
        assert statuses(shown) == [201, 201, 200, 201, 201]
        assert shown["committed"]
        assert [each["index"] for each in shown["results"]] == [*range(5)]
        assert shown["results"][0]["key"] == "create_customer 0"
        assert {each["etag"] for each in shown["results"]} == {'"1"'}
        bodies = [each["body"] for each in shown["results"]]
        assert bodies[1]["customer_id"] == bodies[0]["id"]
        assert bodies[2]["id"] == bodies[1]["id"]
        first, last = (int(bodies[n]["invoice_number"].rpartition("-")[2]) for n in (1, 4))
        assert last == first + 1
        read = shop.api.get(f"invoices/{bodies[1]['id']}/")
        assert unwarned(read.json()) == unwarned(bodies[1])
        assert read.headers["etag"] == '"1"'

    @MODES
    def test_an_item_changes_what_an_item_before_it_changed(
        self, shop: Business, ledger: Ledger, mode: str
    ) -> None:
        made = shop.made("invoices/", invoice("changed")["body"] | {"sent_at": None})
        path = {"invoice_id": made["id"]}
        shown = ran(
            shop,
            mode,
            item("update_invoice", {"memo": "one"}, path=path, if_match='"1"'),
            item("send_invoice", path=path, if_match='"2"'),
            item("void_invoice", path=path, if_match='"3"'),
        )
        assert statuses(shown) == [200, 200, 200]
        assert [each["etag"] for each in shown["results"]] == ['"2"', '"3"', '"4"']
        assert shop.api.get(f"invoices/{made['id']}/").json()["status"] == "voided"

    @MODES
    def test_an_item_that_runs_alone_in_its_business_runs_in_a_batch(
        self, shop: Business, ledger: Ledger, mode: str
    ) -> None:
        account = shop.made(CHART, {**ACCOUNT, "code": f"42{len(mode)}", "name": mode})
        used = shop.made(CHART, {**ACCOUNT, "code": f"43{len(mode)}", "name": mode})
        lines = [debit(used["code"], 100), credit(used["code"], 100)]
        entry = posted(shop, lines=lines)
        customer = shop.customer()
        shown = ran(
            shop,
            mode,
            item("archive_customer", path={"customer_id": customer["id"]}),
            item("archive_account", path={"account_id": account["id"]}),
            item("archive_account", path={"account_id": used["id"]}),
            item("reverse_journal_entry", path={"journal_entry_id": entry["id"]}),
        )
        assert statuses(shown) == [200, 200, 200, 201]
        archived = [shop.api.get(f"{CHART}{each['id']}/").json() for each in (account, used)]
        # A posting makes its account active again, also one that an item before it archived.
        assert [each["is_active"] for each in archived] == [False, True]

    def test_each_item_is_audited_as_its_own_operation(
        self, shop: Business, ledger: Ledger
    ) -> None:
        answer = run(
            shop,
            "atomic",
            item("create_customer", {"external_id": "audited", "company_name": "Audited"}),
            invoice("audited"),
        )
        first, second = (each["body"]["id"] for each in answer.json()["results"])
        records = [
            shop.api.get(f"audit/?object_id={each}").json()["results"][0]
            for each in (first, second)
        ]
        assert [each["action"] for each in records] == ["create_customer", "create_invoice"]
        assert {each["request_id"] for each in records} == {answer.headers["x-request-id"]}

    @MODES
    def test_files_are_kept_only_with_the_records_that_name_them(
        self, acme: Partner, api_server: ApiServer, mode: str
    ) -> None:
        shop = acme.business()
        papers = [in_json(PDF + bytes([32] * number)) for number in range(3)]
        refused = invoice("filed", exchange_rate=2, document=papers[2])
        items = [invoice("filed", document=each) for each in papers[:2]]
        assert run(shop, "atomic", *items, refused).status_code == 422
        assert kept(api_server, shop) == set()
        shown = ran(shop, mode, *items, *([refused] if mode == "independent" else []))
        assert statuses(shown)[:2] == [201, 201]
        assert len(kept(api_server, shop)) == 2
        link = shown["results"][0]["body"]["document"]["url"]
        assert follow(shop, link).content == PDF

    @MODES
    def test_an_item_that_its_caller_may_not_send_is_refused(
        self, shop: Business, ledger: Ledger, mode: str
    ) -> None:
        names = {"vendor_refund_payment_id": NOBODY}
        body = {"mode": mode, "items": keyed(item("cancel_vendor_refund_payment", path=names))}
        for caller, code in (
            (shop.partner.api, "permission_denied"),
            (shop.partner.key, "permission_denied"),
            (shop.api, "vendor_refund_payment_not_found"),
        ):
            shown = caller.post(f"{shop.base_url}/batch/", json=body).json()
            assert codes(shown if mode == "independent" else shown["detail"]) == [code]

    def test_a_token_that_only_reads_runs_none(self, shop: Business) -> None:
        path = f"/v1/platform/{shop.id}/oauth2/token/"
        token = shop.partner.api.post(path, json={"access": "read"}).json()["access_token"]
        answer = run(
            shop,
            "atomic",
            item("create_customer", {"company_name": "Unread"}),
            headers={"Authorization": f"Bearer {token}"},
            params={"preview": "true"},
        )
        assert (answer.status_code, answer.json()["error_code"]) == (403, "permission_denied")


class TestAtomicBatch:
    def test_one_refusal_undoes_all(self, shop: Business, ledger: Ledger) -> None:
        before = count(shop, "invoices"), count(shop, "customers")
        answer = run(
            shop,
            "atomic",
            invoice("never made"),
            item("void_invoice", path={"invoice_id": NOBODY}),
            invoice("never made"),
        )
        assert answer.status_code == 422
        error = answer.json()
        assert error["error_code"] == "batch_rejected"
        assert error["message"].startswith("items.1 is refused, and nothing of the batch is saved")
        detail = error["detail"]
        assert (detail["index"], detail["key"]) == (1, "void_invoice 1")
        outcomes = [each["outcome"] for each in detail["results"]]
        assert outcomes == ["not_attempted", "refused", "not_attempted"]
        assert statuses(detail) == [None, 404, None]
        assert codes(detail) == [None, "invoice_not_found", None]
        assert (count(shop, "invoices"), count(shop, "customers")) == before

    @pytest.mark.parametrize("keys", [{}, {"Idempotency-Key": "taken number"}])
    def test_a_number_that_is_taken_undoes_all_and_names_its_holder(
        self, shop: Business, ledger: Ledger, keys: dict[str, str]
    ) -> None:
        number = f"TAKEN-{len(keys)}"
        holder = shop.made("invoices/", invoice("holder", invoice_number=number)["body"])
        before = count(shop, "invoices")
        for _ in range(2):
            answer = run(
                shop,
                "atomic",
                invoice("holder"),
                invoice("holder", invoice_number=number),
                headers=keys,
            )
            assert answer.status_code == 422
            refused = answer.json()["detail"]["results"][1]["body"]
            assert refused["error_code"] == "duplicate_invoice_number"
            assert refused["detail"]["id"] == holder["id"]
        assert count(shop, "invoices") == before
        assert ("idempotent-replayed" in answer.headers) == bool(keys)

    def test_a_number_that_is_twice_in_it_undoes_all(self, shop: Business, ledger: Ledger) -> None:
        before = count(shop, "invoices")
        answer = run(
            shop,
            "atomic",
            invoice("twice", invoice_number="TWICE"),
            invoice("twice", invoice_number="TWICE"),
        )
        assert answer.status_code == 422
        assert codes(answer.json()["detail"]) == [None, "duplicate_invoice_number"]
        assert count(shop, "invoices") == before

    def test_a_version_that_is_stale_undoes_all(self, shop: Business, ledger: Ledger) -> None:
        customer = shop.customer()
        path = {"customer_id": customer["id"]}
        answer = run(
            shop,
            "atomic",
            item("update_customer", {"city": "Bath"}, path=path, if_match='"1"'),
            item("update_customer", {"city": "York"}, path=path, if_match='"1"'),
        )
        assert statuses(answer.json()["detail"]) == [None, 412]
        assert shop.api.get(f"customers/{customer['id']}/").headers["etag"] == '"1"'


class TestIndependentBatch:
    def test_a_refusal_leaves_the_others(self, shop: Business, ledger: Ledger) -> None:
        before = count(shop, "invoices")
        customer = {"customer_id": shop.customer()["id"]}
        shown = ran(
            shop,
            "independent",
            invoice("kept", invoice_number="KEPT"),
            item("void_invoice", path={"invoice_id": NOBODY}),
            invoice("kept", invoice_number="KEPT"),
            item("update_customer", {"city": "Bath"}, path=customer, if_match='"7"'),
            invoice("kept", currency="USD"),
            invoice("kept"),
        )
        assert statuses(shown) == [201, 404, 409, 412, 422, 201]
        assert codes(shown)[1:4] == [
            "invoice_not_found",
            "duplicate_invoice_number",
            "precondition_failed",
        ]
        refused = shown["results"][2]["body"]
        assert refused["detail"]["id"] == shown["results"][0]["body"]["id"]
        assert count(shop, "invoices") == before + 2

    def test_numbers_of_refused_items_are_used_by_the_next(
        self, shop: Business, ledger: Ledger
    ) -> None:
        shown = ran(
            shop,
            "independent",
            *(invoice("numbered", currency=each) for each in ("GBP", "USD", "GBP", "EUR", "GBP")),
        )
        numbers = [
            int(each["body"]["invoice_number"].rpartition("-")[2])
            for each in shown["results"]
            if each["status"] == 201
        ]
        assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2]

    @pytest.mark.parametrize(
        ("code", "expected"), [("business_archived", 200), ("idempotency_in_progress", 409)]
    )
    def test_a_business_that_refuses_the_rest_is_the_result_of_each_item_left(
        self,
        shop: Business,
        ledger: Ledger,
        monkeypatch: pytest.MonkeyPatch,
        code: str,
        expected: int,
    ) -> None:
        before = count(shop, "invoices")
        calls = []

        async def archived_then(*arguments: Any) -> Any:
            calls.append(arguments)
            if len(calls) == 2:
                raise Conflict(code, "The business is archived.")
            return await writing(*arguments)

        monkeypatch.setattr(batches, "writing", archived_then)
        answer = run(shop, "independent", *(invoice("late") for _ in range(GROUP + 70)))
        assert answer.status_code == expected
        assert len(calls) == 2
        assert count(shop, "invoices") == before + GROUP
        if expected == 200:
            assert statuses(answer.json()) == [201] * GROUP + [409] * 70
            assert set(codes(answer.json())[GROUP:]) == {code}

    def test_a_clock_that_moves_meanwhile_repeats_no_item(
        self, shop: Business, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = count(shop, "invoices")
        calls = []

        async def moved_once(*arguments: Any) -> Any:
            calls.append(arguments)
            if len(calls) == 2:
                raise MovedClock(0)
            return await writing(*arguments)

        monkeypatch.setattr(batches, "writing", moved_once)
        shown = ran(shop, "independent", *(invoice("once") for _ in range(GROUP + 1)))
        assert len(calls) == 3
        assert set(statuses(shown)) == {201}
        assert count(shop, "invoices") == before + GROUP + 1

    def test_an_interrupted_one_goes_on_where_it_was_interrupted(
        self, shop: Business, ledger: Ledger, api_server: ApiServer
    ) -> None:
        before = count(shop, "invoices")
        held = shop.customer()["id"]
        items = [*(invoice("long") for _ in range(GROUP + 2))]
        items.append(item("update_customer", {"city": "Bath"}, path={"customer_id": held}))
        key = {"Idempotency-Key": "interrupted"}
        with psycopg.connect(api_server.database_url) as holder:
            locked = "SELECT FROM customer WHERE business_id = %s AND id = %s FOR UPDATE"
            holder.execute(locked, [shop.id, held])
            assert run(shop, "independent", *items, headers=key).status_code == 503
        assert count(shop, "invoices") == before + GROUP
        for replayed in (False, True):
            answer = run(shop, "independent", *items, headers=key)
            assert set(statuses(answer.json())) == {201, 200}
            assert ("idempotent-replayed" in answer.headers) == replayed
            assert count(shop, "invoices") == before + GROUP + 2


PAID = {"payment_date": "2025-03-10", "payment_method": "cash", "total_amount_cents": 100}
# Each is sent with those before and after it, unless it needs what they record.
SENT_TOGETHER: dict[str, list[Item]] = {
    "plain": [invoice("known", price) for price in (1_000, 2_000, 3_000)],
    "drafts and sent": [invoice("known"), invoice("known", sent_at=None), invoice("known")],
    "two years": [invoice("known", sent_at=f"202{year}-05-01T09:00:00Z") for year in (3, 4, 3)],
    "one new customer": [invoice("brand new") for _ in range(3)],
    "new customers": [invoice("new one"), invoice("new two"), invoice("known")],
    "one external id": [invoice("known", external_id="same") for _ in range(2)],
    "own numbers": [invoice("known", invoice_number=f"A/{number}") for number in range(3)],
    "numbers of the series": [
        invoice("known"),
        invoice("known", invoice_number="INV-000040"),
        invoice("known"),
        invoice("known"),
    ],
    "one number": [invoice("known", invoice_number="ONCE") for _ in range(2)],
    "a refused one": [invoice("known"), invoice("known", currency="USD"), invoice("known")],
    "paid": [invoice("known", payments=[PAID]) for _ in range(2)],
    "tagged": [invoice("known", transaction_tags=["a", "b"]) for _ in range(2)],
    "customers": [item("create_customer", {"company_name": name}) for name in "AB"],
    "a customer and its invoices": [
        item("create_customer", {"company_name": "C", "external_id": "c"}),
        invoice("c"),
        invoice("c"),
        item("create_customer", {"company_name": "C", "external_id": "c"}),
    ],
    "bills": [
        item("create_bill", {"vendor_external_id": "v", "line_items": [line()], "received_at": at})
        for at in (SENT, None)
    ],
    "entries": [
        item("create_journal_entry", entry_body(amount, post=post))
        for amount, post in ((100, True), (200, False), (300, True))
    ],
}
PATHS = {
    "create_customer": "customers/",
    "create_invoice": "invoices/",
    "create_bill": "bills/",
    "create_journal_entry": "general-ledger/journal-entries/",
}


def plain(answer: Any) -> Any:
    """Return an answer without ids and moments, which no two requests have alike."""
    text = UUID.sub("id", json.dumps(answer))
    return json.loads(MOMENT.sub("moment", text))


def entries_of(shop: Business) -> Any:
    listed = shop.api.get(f"{PATHS['create_journal_entry']}?page_size=100&sort=entry_date").json()
    return sorted(map(json.dumps, plain(listed["results"])))


class TestItemsSentTogether:
    @MODES
    @pytest.mark.parametrize("name", SENT_TOGETHER)
    def test_have_the_answers_and_entries_of_single_requests(
        self, acme: Partner, api_server: ApiServer, mode: str, name: str
    ) -> None:
        items, alone, batched = SENT_TOGETHER[name], acme.business(), acme.business()
        for shop in (alone, batched):
            shop.customer(external_id="known")
        single = [alone.api.post(PATHS[each["operation"]], json=each["body"]) for each in items]
        if mode == "atomic":
            items = [each for each, answer in zip(items, single, strict=True) if answer.is_success]
            single = [answer for answer in single if answer.is_success]
        shown = ran(batched, mode, *items)
        assert statuses(shown) == [each.status_code for each in single]
        assert plain([{**each["body"], "request_id": ""} for each in shown["results"]]) == plain(
            [{**each.json(), "request_id": ""} for each in single]
        )
        assert [each["etag"] for each in shown["results"]] == [
            each.headers.get("etag") for each in single
        ]
        assert entries_of(batched) == entries_of(alone)
        Ledger(api_server, batched).audit()

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            *((each, [True]) for each in ("plain", "drafts and sent", "own numbers", "paid")),
            *((each, [True]) for each in ("tagged", "bills", "customers", "entries")),
            *((each, [False]) for each in ("one new customer", "one number", "a refused one")),
            ("numbers of the series", [False]),
            ("a customer and its invoices", [True]),
        ],
    )
    def test_are_sent_one_by_one_only_where_one_depends_on_another(
        self, acme: Partner, monkeypatch: pytest.MonkeyPatch, name: str, expected: list[bool]
    ) -> None:
        shop = acme.business()
        shop.customer(external_id="known")
        shop.vendor(external_id="v")
        found = []

        async def observed(*arguments: Any) -> Any:
            answers = await run_together(*arguments)
            found.append(answers is not None)
            return answers

        monkeypatch.setattr(batches, "run_together", observed)
        ran(shop, "independent", *SENT_TOGETHER[name])
        assert found == expected

    def test_have_numbers_in_their_order(self, shop: Business, ledger: Ledger) -> None:
        shown = ran(shop, "independent", *(invoice("ordered") for _ in range(GROUP + 3)))
        numbers = [each["body"]["invoice_number"] for each in shown["results"]]
        assert numbers == sorted(numbers)


class TestPreviewedBatch:
    @MODES
    def test_shows_the_entries_of_all_items_and_saves_nothing(
        self, shop: Business, ledger: Ledger, mode: str
    ) -> None:
        before = count(shop, "invoices"), count(shop, "customers")
        shown = ran(
            shop,
            mode,
            item("create_customer", {"external_id": "unsaved", "company_name": "Unsaved"}),
            invoice("unsaved", 12_000, external_id="previewed"),
            invoice("unsaved", 500),
            params={"preview": "true"},
        )
        assert not shown["committed"]
        assert statuses(shown) == [200, 200, 200]
        assert [each["etag"] for each in shown["results"]] == [None, None, None]
        entries = shown["journal_entries"]
        assert [each["total_debit"] for each in entries] == [12_000, 500]
        assert {each["sequence_number"] for each in entries} == {None}
        bodies = [each["body"] for each in shown["results"]]
        assert bodies[1]["customer_id"] == bodies[0]["id"]
        assert bodies[1]["invoice_number"] is None
        assert "journal_entries" not in bodies[1]
        assert (count(shop, "invoices"), count(shop, "customers")) == before

    def test_shows_each_refusal_of_an_independent_one(self, shop: Business, ledger: Ledger) -> None:
        shown = ran(
            shop,
            "independent",
            invoice("unsaved", currency="USD"),
            invoice("unsaved", 500),
            params={"preview": "true"},
        )
        assert statuses(shown) == [422, 200]
        assert [each["total_debit"] for each in shown["journal_entries"]] == [500]

    def test_refuses_an_atomic_one_as_it_would_be(self, shop: Business, ledger: Ledger) -> None:
        items = invoice("unsaved"), invoice("unsaved", currency="USD")
        answer = run(shop, "atomic", *items, params={"preview": "true"})
        assert statuses(answer.json()["detail"]) == [None, 422]


class TestRepeatedBatch:
    @MODES
    @pytest.mark.parametrize("amount", [2, GROUP + 1])
    def test_has_the_same_answer(
        self, shop: Business, ledger: Ledger, mode: str, amount: int
    ) -> None:
        key = {"Idempotency-Key": f"{mode} {amount}"}
        items = [invoice("repeated") for _ in range(amount)]
        first = run(shop, mode, *items, headers=key)
        before = count(shop, "invoices")
        again = run(shop, mode, *items, headers=key)
        assert again.content == first.content
        assert again.headers["idempotent-replayed"] == "true"
        assert count(shop, "invoices") == before
        other = run(shop, mode, *items, invoice("repeated"), headers=key)
        assert other.json()["error_code"] == "idempotency_key_reused"

    def test_payments_of_a_batch_have_its_key(self, shop: Business, ledger: Ledger) -> None:
        body = {"payment_date": "2025-03-10", "currency": "GBP", "payment_method": "cash"}
        body |= {"customer_external_id": "payer", "total_amount_cents": 100}
        items = invoice("payer"), item("create_invoice_payment", body)
        shown = ran(shop, "atomic", *items, headers={"Idempotency-Key": "paid in a batch"})
        payment = shown["results"][1]["body"]["payment"]
        assert payment["idempotency_key"] == "paid in a batch"


ACCOUNT = {"account_type": "revenue", "account_subtype": "revenue"}
CHART = "general-ledger/chart-of-accounts/"


def code(text: str) -> dict[str, str]:
    return {"type": "AccountCode", "code": text}


def changed(**facts: Any) -> Callable[[Item], Item]:
    return lambda valid: {**valid, **facts}


class TestInvalidItem:
    @pytest.mark.parametrize(
        ("wrong", "field", "words"),
        [
            (changed(operation="run_batch"), "operation", "must be one of"),
            (changed(operation="update_business"), "operation", "must be one of"),
            (changed(operation="list_invoices"), "operation", "must be one of"),
            (changed(operation="create_document"), "operation", "must be one of"),
            (changed(body={"memo": 1}), "body.memo", "must be a string"),
            (changed(body={"memmo": "x"}), "body.memmo", "did you mean memo?"),
            (changed(body=None), "body", "is required"),
            (changed(path={}), "path.invoice_id", "is required"),
            (changed(path={"invoice_id": "x"}), "path.invoice_id", "UUID"),
            (
                changed(path={"invoice_id": NOBODY, "business_id": NOBODY}),
                "path.business_id",
                "is not a known parameter",
            ),
            (
                changed(path={"invoice_id": NOBODY, "line_id": NOBODY}),
                "path.line_id",
                "is not a known parameter",
            ),
            (changed(if_match="1"), "if_match", "must be one ETag"),
            (changed(query={}), "query", "is not a known field"),
            (changed(key="valid"), "key", "must differ from that of items.0"),
            (changed(body={"memo": 2**53}), "body.memo", "must be from -9007199254740991"),
        ],
    )
    @MODES
    def test_refuses_the_whole_batch_before_anything_runs(
        self,
        shop: Business,
        mode: str,
        wrong: Callable[[Item], Item],
        field: str,
        words: str,
    ) -> None:
        before = count(shop, "customers")
        valid = item("create_customer", {"company_name": "Never Made"}, key="valid")
        other = item("update_invoice", {"memo": "x"}, path={"invoice_id": NOBODY})
        body = {"mode": mode, "items": [valid, wrong(other)]}
        found = faults(shop.api.post("batch/", json=body))
        assert list(found) == [f"items.1.{field}"]
        assert words in found[f"items.1.{field}"][0]
        assert count(shop, "customers") == before

    def test_is_named_as_long_as_an_error_has_room(self, shop: Business) -> None:
        wrong = item("create_customer", {"compani_name": "x", "emial": "y"})
        found = faults(run(shop, "atomic", *[wrong] * 500))
        assert len(found) == 100
        assert "items.0.body.company_name" in found

    def test_names_the_place_in_its_body(self, shop: Business) -> None:
        items = [invoice("nested") for _ in range(4)]
        items[3]["body"]["line_items"][0]["quantity"] = "many"
        found = faults(run(shop, "atomic", *items))
        assert list(found) == ["items.3.body.line_items.0.quantity"]

    def test_has_no_body_or_version_where_its_operation_has_none(self, shop: Business) -> None:
        path = {"customer_id": NOBODY}
        items = (
            item("archive_customer", {"at": "once"}, path=path),
            item("create_customer", {"company_name": "New"}, if_match="*"),
        )
        assert faults(run(shop, "atomic", *items)) == {
            "items.0.body": ["is not accepted by this operation"],
            "items.1.if_match": ["is not accepted by this operation"],
        }

    def test_null_in_its_body_is_read_as_in_a_request(self, shop: Business) -> None:
        body = {"company_name": "Null Ltd", "city": None, "external_id": None}
        assert statuses(ran(shop, "atomic", item("create_customer", body))) == [201]


class TestWrongBatch:
    def test_has_a_known_mode_and_items(self, shop: Business) -> None:
        items = keyed(invoice("none"))
        for body, field in (
            ({"items": items}, "mode"),
            ({"items": items, "mode": "both"}, "mode"),
            ({"mode": "atomic"}, "items"),
            ({"mode": "atomic", "items": []}, "items"),
        ):
            assert list(faults(shop.api.post("batch/", json=body))) == [field]

    def test_has_up_to_500_items(self, shop: Business) -> None:
        before = count(shop, "customers")
        items = [item("create_customer", {"company_name": "Many"}) for _ in range(501)]
        found = faults(run(shop, "independent", *items))
        assert found == {"items": ["must have at most 500 items"]}
        assert count(shop, "customers") == before

    @pytest.mark.parametrize(("surplus", "status"), [(0, 200), (1, 413)])
    def test_has_up_to_5_mebibytes(self, shop: Business, surplus: int, status: int) -> None:
        before = count(shop, "customers")
        body = b'{"mode": "atomic", "items": [{"key": "a", "operation": "create_customer",'
        body += b' "body": {"company_name": "Large Ltd"}}]}'
        body += b" " * (5 * MIB + surplus - len(body))
        headers = {"Content-Type": "application/json"}
        answer = shop.api.post("batch/", content=body, headers=headers)
        assert answer.status_code == status
        assert count(shop, "customers") == before + (not surplus)
        if surplus:
            assert answer.json()["detail"] == {"limit_bytes": 5 * MIB}

    def test_other_bodies_keep_their_limits(self, shop: Business) -> None:
        body = b'{"company_name": "Large Ltd"}'.ljust(MIB + 1)
        headers = {"Content-Type": "application/json"}
        assert shop.api.post("customers/", content=body, headers=headers).status_code == 413

    def test_of_an_archived_business_is_refused(self, acme: Partner) -> None:
        shop = acme.business()
        acme.api.post(f"{shop.base_url}/archive/")
        for mode in ("atomic", "independent"):
            answer = run(shop, mode, item("create_customer", {"company_name": "Late"}))
            assert (answer.status_code, answer.json()["error_code"]) == (409, "business_archived")

    @MODES
    def test_another_business_is_out_of_its_reach(
        self, acme: Partner, rival: Partner, shop: Business, ledger: Ledger, mode: str
    ) -> None:
        theirs = rival.business()
        customer = theirs.customer(external_id="theirs", company_name="Canary Ltd")
        bill = theirs.made("invoices/", invoice("theirs")["body"])
        items = (
            item("update_customer", {"city": "Bath"}, path={"customer_id": customer["id"]}),
            item("void_invoice", path={"invoice_id": bill["id"]}),
            item("create_invoice", {"customer_id": customer["id"], "line_items": [line()]}),
        )
        for each in items:
            answer = run(shop, mode, each)
            shown = answer.json()["detail"] if mode == "atomic" else answer.json()
            assert statuses(shown)[0] in (404, 422)
            assert "Canary" not in answer.text
        assert run(shop, mode, invoice("theirs")).status_code == 200
        assert theirs.api.get(f"customers/{customer['id']}/").headers["etag"] == '"1"'
        outsider = rival.api.post(
            f"{shop.base_url}/batch/", json={"mode": mode, "items": keyed(invoice("x"))}
        )
        assert outsider.status_code == 403
