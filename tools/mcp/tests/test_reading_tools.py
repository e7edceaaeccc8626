"""The tools that read, by their answers for known books."""

from types import SimpleNamespace

import pytest

from tests.builders.trade import NOBODY
from tests.partner import Business
from tools.mcp.definitions import READING
from tools.mcp.tasks import REPORTS
from tools.mcp.tests.agent import Agent

ENDS = {"start_date": "2025-03-01", "end_date": "2025-03-31"}


def calls(books: SimpleNamespace) -> dict[str, dict[str, object]]:
    """Return arguments for each tool that reads."""
    return {
        "business": {},
        "what_to_do": {},
        "find": {"text": "bakery"},
        "show": {"kind": "invoice", "id": books.invoice["id"]},
        "explain_figure": {"explain": f"/v1/platform/businesses/{books.business}/bills/"},
        "report": {"report": "trial_balance", "as_of_date": "2025-03-31"},
        "vat": ENDS,
        "aging": {"side": "payable"},
        "statement": {"customer_id": books.buyer["id"], **ENDS},
        "list_accounts": {"text": "sales"},
        "list_tax_codes": {"direction": "sales"},
        "check_integrity": {},
        "suggest_matches": {"bank_transaction_id": books.line["id"]},
    }


@pytest.mark.parametrize("name", [tool.name for tool in READING])
class TestEachTool:
    def test_answers_for_a_token_that_reads(
        self, reader: Agent, books: SimpleNamespace, shop: Business, name: str
    ) -> None:
        books.business = shop.id
        assert reader.read(name, **calls(books)[name])


class TestBusiness:
    def test_names_its_bank_accounts_and_what_the_token_may_do(
        self, agent: Agent, reader: Agent, books: SimpleNamespace
    ) -> None:
        told = agent.read("business")
        assert told["business"]["legal_name"] == "Harbour Coffee Ltd"
        assert books.bank.account["id"] in [each["id"] for each in told["bank_accounts"]]
        assert (told["access"], reader.read("business")["access"]) == ("read and write", "read")


class TestFind:
    @pytest.mark.parametrize(
        ("text", "kind", "name"),
        [
            ("blue door", "customer", "buyer"),
            ("raw coffee", "vendor", "vendor"),
            ("INV-000001", "invoice", "invoice"),
            ("BILL-000001", "bill", "bill"),
            ("account fee", "bank_transaction", "line"),
        ],
    )
    def test_finds_a_record_by_a_part_of_its_text(
        self, agent: Agent, books: SimpleNamespace, text: str, kind: str, name: str
    ) -> None:
        found = agent.read("find", text=text)
        assert getattr(books, name)["id"] in [each["id"] for each in found[kind]["results"]]
        assert all(page["count"] for page in found.values())

    def test_shows_party_status_and_amounts(self, agent: Agent, books: SimpleNamespace) -> None:
        [found] = agent.read("find", text="INV-000001", kinds=["invoice"])["invoice"]["results"]
        party = {"id": books.buyer["id"], "display_name": "Blue Door Bakery"}
        assert (found["customer"], found["total_amount"], found["currency"]) == (
            party,
            12_000,
            "GBP",
        )

    def test_filters_one_kind_and_goes_through_its_pages(
        self, agent: Agent, books: SimpleNamespace
    ) -> None:
        query = {"kinds": ["journal_entry"], "filters": {"sort": "entry_date"}, "page_size": 1}
        first, second = (agent.read("find", **query, page=page) for page in (1, 2))
        ids = [page["journal_entry"]["results"][0]["id"] for page in (first, second)]
        assert len({*ids}) == 2
        assert first["journal_entry"]["more"] == "Send the next `page`."

    def test_takes_several_values_of_a_filter(self, agent: Agent, books: SimpleNamespace) -> None:
        count = {
            status: agent.read("find", kinds=["invoice"], filters={"status": status})
            for status in ("draft", "overdue")
        }
        assert count["draft"] == {"count": 0, "searched": ["invoice"]}
        both = agent.read("find", kinds=["invoice"], filters={"status": ["draft", "overdue"]})
        assert both == count["overdue"]
        assert [each["id"] for each in both["invoice"]["results"]] == [books.invoice["id"]]

    def test_of_an_unknown_filter_names_it(self, agent: Agent) -> None:
        refusal = agent.call("find", kinds=["invoice"], filters={"colour": "red"}).refusal
        assert "- colour: " in refusal
        assert "400 validation_error" in refusal

    @pytest.mark.parametrize(
        "arguments", [{}, {"text": "x", "page": 2}, {"text": "x", "filters": {"status": "draft"}}]
    )
    def test_of_many_kinds_takes_a_text_only(
        self, agent: Agent, arguments: dict[str, object]
    ) -> None:
        assert "exactly one kind" in agent.call("find", **arguments).refusal


class TestShow:
    def test_has_the_entries_of_a_document(self, agent: Agent, books: SimpleNamespace) -> None:
        shown = agent.read("show", kind="invoice", id=books.invoice["id"])
        [entry] = shown["journal_entries"]
        assert (shown["record"]["id"], entry["total_debit"]) == (books.invoice["id"], 12_000)

    def test_leaves_out_fields_without_a_value(self, agent: Agent, books: SimpleNamespace) -> None:
        assert books.buyer["external_id"] is None
        shown = agent.read("show", kind="customer", id=books.buyer["id"])
        assert "external_id" not in shown
        assert None not in shown.values()

    def test_of_an_unknown_id_says_so(self, agent: Agent) -> None:
        refusal = agent.call("show", kind="invoice", id=NOBODY).refusal
        assert "404 invoice_not_found" in refusal
        assert "What to do: " in refusal
        assert "Request id: " in refusal

    def test_needs_a_name_of_the_record(self, agent: Agent) -> None:
        assert "Send `kind` and `id`" in agent.call("show", kind="invoice").refusal

    @pytest.mark.parametrize(
        "address",
        [
            "https://elsewhere.example.com/v1/platform/businesses/{business}/bills/",
            "/v1/platform/businesses/{other}/bills/",
            "/v1/platform/businesses/{business}/../{other}/bills/",
            "/v1/platform/businesses/{business}/%2e%2e/{other}/bills/",
            "/v1/platform/businesses/",
        ],
    )
    def test_reads_no_address_outside_of_the_business(
        self, agent: Agent, shop: Business, address: str
    ) -> None:
        given = address.format(business=shop.id, other=NOBODY)
        assert "Send an address as the API returned it" in agent.call("show", address=given).refusal


class TestExplainFigure:
    def test_goes_from_a_report_to_the_document(self, agent: Agent, books: SimpleNamespace) -> None:
        profit = agent.read("report", report="profit_and_loss", **ENDS)
        [sales] = profit["revenue"]["line_items"]
        lines = agent.read("explain_figure", explain=sales["explain"], page_size=50)
        [line] = lines["results"]
        assert (sales["value_cents"], line["credit_amount"]) == (12_000, 12_000)
        document = agent.read("show", kind=line["source_type"], id=line["source_id"])
        assert document["record"]["id"] == books.invoice["id"]
        entry = agent.read("show", kind="journal_entry", id=line["journal_entry_id"])
        by_address = agent.read("show", address=entry["document_url"])
        assert by_address == document["record"]


class TestReport:
    @pytest.mark.usefixtures("books")
    @pytest.mark.parametrize("name", REPORTS)
    def test_each_takes_its_own_arguments(self, agent: Agent, name: str) -> None:
        at_end = "as_of_date" in REPORTS[name]
        dates = {"as_of_date": "2025-03-31"} if at_end else ENDS
        told = agent.read("report", report=name, basis="accrual", **dates)
        assert {field: told[field] for field in dates} == dates

    @pytest.mark.usefixtures("books")
    def test_has_the_sales_of_the_period(self, agent: Agent) -> None:
        told = agent.read("report", report="profit_and_loss", **ENDS)
        assert told["summary"]["net_revenue_cents"] == 12_000

    def test_refuses_an_argument_of_another_report(self, agent: Agent) -> None:
        refusal = agent.call("report", report="trial_balance", **ENDS).refusal
        assert refusal == ("trial_balance has no start_date, end_date. It has: as_of_date, basis.")


class TestStatement:
    def test_is_of_one_party(self, agent: Agent, books: SimpleNamespace) -> None:
        told = agent.read("statement", customer_id=books.buyer["id"])
        assert told["closing_balance_cents"] == 12_000
        both = {"customer_id": books.buyer["id"], "vendor_id": books.vendor["id"]}
        for wrong in ({}, both):
            assert "either `customer_id` or `vendor_id`" in agent.call("statement", **wrong).refusal


class TestWhatToDo:
    def test_lists_what_waits(self, agent: Agent, books: SimpleNamespace) -> None:
        told = agent.read("what_to_do")
        assert books.invoice["id"] in [each["id"] for each in told["overdue_invoices"]["results"]]
        waiting = told["unmatched_bank_transactions"]["results"]
        assert books.line["id"] in [each["id"] for each in waiting]
        assert told["receivables"]
        assert told["payables"]


class TestLists:
    @pytest.mark.usefixtures("books")
    def test_accounts_have_code_and_balance(self, agent: Agent) -> None:
        accounts = agent.read("list_accounts", account_type="revenue")["results"]
        [sales] = [each for each in accounts if each["code"] == "4000"]
        assert sales["current_balance"] == 12_000

    def test_integrity_names_the_checks(self, agent: Agent) -> None:
        told = agent.read("check_integrity")
        assert (told["status"], told["failed"]) == ("green", [])
        assert "trial_balance" in told["passed"]
