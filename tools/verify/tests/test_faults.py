"""Planted faults: each is found by the check that should find it."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.partner import Partner
from tools.verify.answers import Answers
from tools.verify.contract import Contract
from tools.verify.generated import try_operations
from tools.verify.report import Report
from tools.verify.run import Options, admitted, begin, read_contract, verify
from tools.verify.tests.fault_proxy import Exchange, FaultPlan, spoiled
from tools.verify.wire import Secrets, Wire


def made(passing: Exchange, path: str) -> bool:
    """Return whether a POST created a record at a path."""
    return (passing.method, passing.status) == ("POST", 201) and passing.path.endswith(path)


def drop_field(passing: Exchange) -> None:
    if made(passing, "/invoices/"):
        body = passing.body
        del body["due_at"]
        passing.body = body


def change_type(passing: Exchange) -> None:
    if made(passing, "/bills/"):
        passing.body = {**passing.body, "total_amount": str(passing.body["total_amount"])}


def change_status(passing: Exchange) -> None:
    if made(passing, "/vendors/"):
        passing.status = 202


def drop_header(passing: Exchange) -> None:
    if made(passing, "/payouts/"):
        del passing.answered["x-request-id"]


def add_a_cent(passing: Exchange) -> None:
    if made(passing, "/invoices/"):
        passing.body = {**passing.body, "total_amount": passing.body["total_amount"] + 1}


def drop_key(passing: Exchange) -> None:
    passing.headers.pop("idempotency-key", None)


def drop_version(passing: Exchange) -> None:
    passing.headers.pop("if-match", None)


def drop_parts(passing: Exchange) -> None:
    """Answer as if a list ended with its first page."""
    if passing.method == "GET" and "/vendors/?" in passing.path and passing.status == 200:
        body = passing.body
        body["page_info"]["next_cursor"] = None
        passing.body = body


def name_another_code(passing: Exchange) -> None:
    if passing.status == 409 and b"duplicate_bill_number" in passing.content:
        passing.content = passing.content.replace(b"duplicate_bill_number", b"vendor_not_active")


def raise_a_line(passing: Exchange) -> None:
    if passing.method == "GET" and "/reports/profit-and-loss/" in passing.path:
        body = passing.body
        body["revenue"]["line_items"][0]["value_cents"] += 1
        passing.body = body


def tilt(passing: Exchange) -> None:
    """Add to a balance an amount that no entry has posted."""
    if passing.method == "GET" and "/chart-of-accounts/?" in passing.path:
        body = passing.body
        body["results"][0]["debit_balance"] += 1
        passing.body = body


def turn_red(passing: Exchange) -> None:
    if passing.path.endswith("/integrity/"):
        body = passing.body
        body["status"], body["checks"][0]["ok"] = "red", False
        passing.body = body


class LetIn:
    """A fault that gives requests without a token the last valid one."""

    def __init__(self) -> None:
        self.right = ""

    def ask(self, passing: Exchange) -> None:
        given = passing.headers.get("authorization", "")
        if given.startswith("Bearer ey"):
            self.right = given
        elif not given.startswith("Basic "):
            passing.headers["authorization"] = self.right


FAULTS = {
    "a required field is missing": (
        FaultPlan(answer=drop_field),
        "sales: an invoice is sent, and its total is exact",
        "due_at",
    ),
    "an amount is a text": (
        FaultPlan(answer=change_type),
        "purchases: a bill is received, and its total is exact",
        "total_amount",
    ),
    "a status is not documented": (
        FaultPlan(answer=change_status),
        "purchases: a vendor is made",
        "The contract documents",
    ),
    "a documented header is missing": (
        FaultPlan(answer=drop_header),
        "bank: a payout settles a payment by card without a variance",
        "X-Request-ID is missing",
    ),
    "a total is off by a cent": (
        FaultPlan(answer=add_a_cent),
        "sales: an invoice is sent, and its total is exact",
        "165250 was expected, and 165251 came",
    ),
    "a repeated write takes effect twice": (
        FaultPlan(ask=drop_key),
        "repeating: a write repeated with its key takes effect once",
        "the repeated answer",
    ),
    "a lost update is not seen": (
        FaultPlan(ask=drop_version),
        "repeating: a change of an older version is refused, and changes nothing",
        "Status 412 was expected, and 200 came",
    ),
    "a list ends too early": (
        FaultPlan(answer=drop_parts),
        "lists: a list is walked to its end by cursors",
        "items met and items counted",
    ),
    "a refusal has another code": (
        FaultPlan(answer=name_another_code),
        "purchases: the same number of the vendor is not taken twice",
        "duplicate_bill_number",
    ),
    "a line of a report is not what its entries come to": (
        FaultPlan(answer=raise_a_line),
        "reports: the entries behind each line come to its figure",
        "100000 was expected, and 100001 came",
    ),
    "an account holds what nobody posted": (
        FaultPlan(answer=tilt),
        "ledger: the trial balance is that of the entries, and even",
        "debits less credits",
    ),
    "the server's own proof is red": (
        FaultPlan(answer=turn_red),
        "ledger: the server's own proof is green",
        "The proof is red",
    ),
    "whoever has no token is let in": (
        FaultPlan(ask=LetIn().ask),
        "access: no credentials and a made-up token are refused",
        "Status 401 was expected, and 200 came",
    ),
}


@pytest.fixture(scope="module")
def asked(partner: Partner) -> Options:
    return Options(partner.url, str(partner.partner_id), partner.api_key, examples=0)


class TestFault:
    @pytest.mark.parametrize("name", FAULTS)
    def test_is_found_by_its_check(self, asked: Options, name: str) -> None:
        spoiling, check, told = FAULTS[name]
        with spoiled(asked.url, spoiling) as url:
            report = verify(replace(asked, url=url), lambda _check: None)
        found = {f"{each.journey}: {each.name}": each for each in report.failed}
        assert check in found, report.failed
        [*faults] = found[check].faults
        assert any(told in fault.what for fault in faults), faults
        assert all(fault.request and fault.answer for fault in faults)

    def test_shows_no_secret(self, asked: Options) -> None:
        def spoil(passing: Exchange) -> None:
            if passing.path.endswith("/oauth2/token/") and passing.status == 200:
                passing.answered["etag"] = '"1"'

        with spoiled(asked.url, FaultPlan(answer=spoil)) as url:
            report = verify(replace(asked, url=url), lambda _check: None)
        faults = [fault for check in report.failed for fault in check.faults]
        assert {fault.what.partition(" is ")[0] for fault in faults} == {"The header ETag"}
        told = str(report.shape()) + report.junit().decode()
        assert '"access_token":"***"' in told
        assert "eyJ" not in told
        assert asked.api_key not in told


class TestMadeUpRequests:
    """Requests generated for some operations; all operations would take too long."""

    def test_find_nothing_wrong_with_a_healthy_server(self, asked: Options) -> None:
        names = ("create_customer", "update_account", "create_document", "export_accounts")
        report = self.tried(asked, FaultPlan(), *names)
        assert report.failed == []
        tried = {check.name for check in report.checks if check.journey == "contract"}
        assert set(names) < tried

    def test_are_part_of_a_run_and_what_there_is_no_time_for_is_told(self, asked: Options) -> None:
        report = verify(replace(asked, examples=2, seconds=0.1), lambda _check: None)
        assert report.failed == []
        contract = [check.name for check in report.checks if check.journey == "contract"]
        assert contract[1:] == ["issue_partner_token", *contract[2:]]
        assert "every journal entry balances" in contract
        [warning] = report.warnings
        assert "get_integrity" in warning

    def tried(self, asked: Options, spoiling: FaultPlan, *names: str) -> Report:
        with spoiled(asked.url, spoiling) as url, httpx.Client(base_url=url) as http:
            contract = read_contract(http)
            report = Report(url, contract.version, contract.version, lambda _check: None)
            wire = Wire(http, Answers(contract), Secrets(asked.api_key))
            story = begin(admitted(wire, asked), contract, report)
            try_operations(
                replace(story, contract=narrowed(contract, names)), examples=4, seconds=60
            )
        return report

    def test_find_what_no_journey_asks_for(self, asked: Options) -> None:
        def fail(passing: Exchange) -> None:
            if "/audit/" in passing.path and passing.status == 200:
                passing.body = {**passing.body, "colour": "red"}

        report = self.tried(asked, FaultPlan(answer=fail), "list_audit_records", "list_payouts")
        [found] = report.failed
        assert (found.journey, found.name) == ("contract", "list_audit_records")
        assert "colour" in found.faults[0].what

    def test_find_what_is_taken_and_should_be_refused(self, asked: Options) -> None:
        def take(passing: Exchange) -> None:
            if passing.path.partition("?")[0].endswith("/vendors/") and passing.status == 400:
                page: dict[str, Any] = {"count": 0, "next": None, "previous": None, "results": []}
                info = dict.fromkeys(("current_page", "total_pages", "total_count", "next_cursor"))
                passing.status = 200
                passing.body = {**page, "page_info": {**info, "page_size": 20}}

        report = self.tried(asked, FaultPlan(answer=take), "list_vendors")
        [found] = report.failed
        assert "expected to be refused, and 200 came" in found.faults[0].what


def narrowed(contract: Contract, names: tuple[str, ...]) -> Contract:
    """Return the contract with these operations only."""
    paths: dict[str, Any] = {}
    for each in contract.operations:
        if each.operation_id in names:
            shared = contract.document["paths"][each.path].get("parameters", [])
            paths[each.path] = {"parameters": shared, each.method.lower(): each.node}
    return Contract({**contract.document, "paths": paths})
