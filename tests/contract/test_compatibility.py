"""The comparison of contracts finds each planted breaking change and no other change."""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from server.contract.document import parse, read_source
from server.contract.published import published
from tests.contract.compatibility import differences
from tests.contract.released import RELEASED, last_released, newest, number_of, refused, told
from tests.contract.schema_changes import Difference, Kind

Document = dict[str, Any]
Plant = Callable[[Document], object]
B = "/v1/platform/businesses/{business_id}"
REACHING = (
    *("integrity/", "vendors/", "vendors/{vendor_id}/archive/", "invoices/"),
    "invoices/{invoice_id}/",
    *("invoices/refunds/", "invoices/payments/{payment_id}/", "invoices/{invoice_id}/write-offs/"),
    *("bank-accounts/{bank_account_id}/", "bank-transactions/{bank_transaction_id}/match/"),
    *("bank-transactions/{bank_transaction_id}/unmatch/", "documents/"),
)
MEMO = {"type": "string", "description": "A word.", "maxLength": 10, "pattern": "^[^\0]*$"}


@cache
def today() -> Document:
    """Return the published contract. It takes 20 MB, so only a worker that needs it loads it."""
    document: Document = parse(published(read_source()))
    return document


@cache
def some_operations() -> Document:
    """Return the published contract with the operations alone that reach what is planted."""
    whole = today()
    return {**whole, "paths": {f"{B}/{path}": whole["paths"][f"{B}/{path}"] for path in REACHING}}


def schema(document: Document, name: str) -> Any:
    return document["components"]["schemas"][name]


def field(document: Document, name: str, field_name: str) -> Any:
    return schema(document, name)["properties"][field_name]


def operation(document: Document, path: str, method: str) -> Any:
    return document["paths"][f"{B}/{path}"][method]


def found_after(plant: Plant, contract: Callable[[], Document]) -> list[Difference]:
    changed = copy.deepcopy(contract())
    plant(changed)
    return differences(contract(), changed)


# fmt: off
BREAKING: dict[str, tuple[Plant, str]] = {
    "an operation goes": (
        lambda d: d["paths"].pop(f"{B}/integrity/"),
        "the operation GET /v1/platform/businesses/{business_id}/integrity/ is gone"),
    "an operation gets another name": (
        lambda d: operation(d, "integrity/", "get").update(operationId="prove_books"),
        "is prove_books, was get_integrity"),
    "a credential goes": (
        lambda d: operation(d, "integrity/", "get")["security"].pop(),
        "the credential PartnerKey is gone"),
    "a field of an answer goes": (
        lambda d: schema(d, "Vendor")["properties"].pop("memo"), "the field memo is gone"),
    "a field of an answer may be absent": (
        lambda d: schema(d, "Vendor")["required"].remove("id"),
        "the field id is no longer always there"),
    "a field of an answer may be null": (
        lambda d: field(d, "Vendor", "id").update(nullable=True), "nullable is True, was False"),
    "a field of an answer gets longer": (
        lambda d: field(d, "Vendor", "memo").update(maxLength=99999), "maxLength is 99999, was"),
    "an amount of an answer gets larger": (
        lambda d: field(d, "WriteOff", "amount_cents").update(maximum=2**60),
        f"maximum is {2**60}, was"),
    "a field of a request goes": (
        lambda d: schema(d, "VendorCreate")["properties"].pop("memo"), "the field memo is gone"),
    "a field of a request is asked for": (
        lambda d: schema(d, "VendorCreate").setdefault("required", []).append("memo"),
        "the field memo is required now"),
    "a new field is asked for": (
        lambda d: (
            schema(d, "VendorCreate")["properties"].update(colour=MEMO),
            schema(d, "VendorCreate").setdefault("required", []).append("colour"),
        ),
        "the field colour is required now"),
    "a word of a request goes": (
        lambda d: schema(d, "LinkedType")["enum"].pop(), "is gone"),
    "a word of an answer goes": (
        lambda d: schema(d, "ErrorCode")["enum"].remove("period_locked"),
        "the word period_locked is gone"),
    "a request is held to words": (
        lambda d: field(d, "VendorCreate", "memo").update(enum=["a"]), "its list of words is new"),
    "a condition on fields that were there": (
        lambda d: schema(d, "InvoiceRefundCreate")["not"]["anyOf"].append(
            {"required": ["memo", "processor"]}),
        "not is"),
    "a type changes": (
        lambda d: field(d, "Vendor", "id").update(type="integer"), "type is integer, was string"),
    "a format changes": (
        lambda d: field(d, "Vendor", "id").pop("format"), "format is not there, was uuid"),
    "a request gets shorter": (
        lambda d: field(d, "VendorCreate", "memo").update(maxLength=3), "maxLength is 3, was"),
    "a request gets a least": (
        lambda d: field(d, "VendorCreate", "memo").update(minLength=3), "minLength is 3, was"),
    "a request gets another pattern": (
        lambda d: field(d, "VendorCreate", "memo").update(pattern="^a$"), "pattern is ^a$, was"),
    "one of several forms of a request gets shorter": (
        lambda d: schema(d, "Quantity")["anyOf"][1].update(maxLength=3), "maxLength is 3, was 16"),
    "one of several forms goes": (
        lambda d: schema(d, "Quantity")["anyOf"].pop(), "anyOf is"),
    "fields of a request exclude each other": (
        lambda d: schema(d, "BankAccountUpdate").update({"not": {"required": ["iban", "mask"]}}),
        "not is {'required': ['iban', 'mask']}, was not there"),
    "a status goes": (
        lambda d: operation(d, "vendors/", "post")["responses"].pop("200"),
        "the status 200 is gone"),
    "a header goes": (
        lambda d: operation(d, "vendors/", "post")["responses"]["201"]["headers"].pop("Location"),
        "the header Location is gone"),
    "a content type goes": (
        lambda d: operation(d, "invoices/payments/{payment_id}/", "put")["requestBody"][
            "content"].pop("multipart/form-data"),
        "the content type multipart/form-data is gone"),
    "a body is asked for": (
        lambda d: operation(d, "vendors/{vendor_id}/archive/", "post").update(
            requestBody={**operation(d, "vendors/", "post")["requestBody"], "required": True}),
        "is required now"),
    "a parameter goes": (
        lambda d: operation(d, "vendors/", "get")["parameters"].pop(0), "is gone"),
    "a parameter is asked for": (
        lambda d: d["components"]["parameters"]["Page"].update(required=True), "is required now"),
    "a new parameter is asked for": (
        lambda d: operation(d, "vendors/", "get")["parameters"].append(
            {"name": "colour", "in": "query", "required": True, "schema": MEMO}),
        "the parameter colour in query is new and required"),
    "what is left out means something else": (
        lambda d: d["components"]["parameters"]["PageSize"]["schema"].update(default=50),
        "default is 50, was 20"),
}
ADDITIONS: dict[str, tuple[Plant, str]] = {
    "an operation": (
        lambda d: d["paths"].update({f"{B}/colours/": {
            "get": {**operation(d, "vendors/", "get"), "operationId": "list_colours"}}}),
        "the operation GET /v1/platform/businesses/{business_id}/colours/ is new"),
    "a field that a request may have": (
        lambda d: schema(d, "VendorCreate")["properties"].update(colour=MEMO),
        "the field colour is new"),
    "a field of an answer": (
        lambda d: schema(d, "Vendor")["properties"].update(colour=MEMO),
        "the field colour is new"),
    "a field in the place of one that was asked for": (
        lambda d: schema(d, "BankTransactionUnmatch").update({
            "required": [],
            "properties": {**schema(d, "BankTransactionUnmatch")["properties"], "colour": MEMO},
            "not": {"anyOf": [
                {"required": ["reconciliation_link_id", "colour"]},
                {"not": {"anyOf": [{"required": ["reconciliation_link_id"]}]}}]}}),
        "was not there"),
    "a sum of an answer of 64 bits": (
        lambda d: field(d, "WriteOff", "amount_cents").update(maximum=2**63 - 1),
        f"maximum is {2**63 - 1}, was"),
    "an error code": (
        lambda d: schema(d, "ErrorCode")["enum"].append("wrong_colour"),
        "the word wrong_colour is new"),
    "a word of a request": (
        lambda d: schema(d, "LinkedType")["enum"].append("colour"),
        "the word colour is new"),
    "a condition on a new field": (
        lambda d: (
            schema(d, "InvoiceRefundCreate")["properties"].update(colour=MEMO),
            schema(d, "InvoiceRefundCreate")["not"]["anyOf"].append(
                {"required": ["memo", "colour"]}),
        ),
        "refuses more of what came to it"),
    "another name in the place of a required one": (
        lambda d: schema(d, "InvoiceReplace").update({
            "required": [],
            "properties": {**schema(d, "InvoiceReplace")["properties"], "colour": MEMO},
            "allOf": [{"not": {"not": {"anyOf": [
                {"required": ["line_items"]}, {"required": ["colour"]}]}}}]}),
        "not is"),
    "a longer request": (
        lambda d: field(d, "VendorCreate", "memo").update(maxLength=99999),
        "maxLength is 99999, was"),
    "a parameter": (
        lambda d: operation(d, "vendors/", "get")["parameters"].append(
            {"name": "colour", "in": "query", "schema": MEMO}),
        "the parameter colour in query is new"),
    "a status": (
        lambda d: operation(d, "vendors/", "get")["responses"].update(
            {"404": operation(d, "vendors/", "get")["responses"]["400"]}),
        "the status 404 is new"),
    "a deprecation": (
        lambda d: operation(d, "vendors/", "get").update(
            {"deprecated": True, "x-deprecated": {"since": "2026-01-01"}}),
        "is deprecated"),
    "a description": (
        lambda d: schema(d, "Vendor").update(description="Other words."),
        "says its description in other words"),
}
# fmt: on


class TestDifferences:
    @pytest.mark.parametrize("name", BREAKING)
    def test_tell_what_breaks_clients(self, name: str) -> None:
        plant, words = BREAKING[name]
        found = found_after(plant, some_operations)
        breaking = [each for each in found if each.kind is Kind.BREAKING]
        assert [each for each in breaking if words in each.words], breaking

    @pytest.mark.parametrize("name", ADDITIONS)
    def test_let_through_what_does_not(self, name: str) -> None:
        plant, words = ADDITIONS[name]
        found = found_after(plant, some_operations)
        assert refused(found, "1.0.0", "1.1.0") == []
        assert [each for each in found if words in each.words], found

    def test_reach_every_schema(self) -> None:
        def plant(document: Document) -> None:
            for node in document["components"]["schemas"].values():
                node["type"] = "planted"

        found = found_after(plant, today)
        reached = {place.split()[0] for place, words, _ in found if "planted" in words}
        merged = {"PageEnvelope", "Totals", "ToldOfFile"}  # Merged into others by `allOf`.
        forbidden = {"BankMoneyTarget"}  # Used in a `not`.
        sent = {"WebhookMessage", "WebhookPing", "WebhookPingType"}  # Used in `x-webhooks`.
        assert today()["components"]["schemas"].keys() - reached == merged | forbidden | sent

    def test_of_a_contract_and_itself_are_none(self) -> None:
        assert differences(today(), copy.deepcopy(today())) == []


class TestReleased:
    def test_the_contract_breaks_no_client_of_the_last_one(self) -> None:
        old = last_released()
        versions = old["info"]["version"], today()["info"]["version"]
        assert refused(differences(old, today()), *versions) == []

    def test_each_is_named_by_its_version(self) -> None:
        for file in RELEASED.iterdir():
            assert parse(file.read_bytes())["info"]["version"] == file.stem

    def test_the_contract_is_not_older_than_the_last_one(self) -> None:
        assert number_of(today()["info"]["version"]) >= number_of(newest().stem)

    @pytest.mark.parametrize("version", ["1.9.9", "1.0.0"])
    def test_what_breaks_clients_needs_a_new_major_version(self, version: str) -> None:
        found = [Difference("here", "is gone", Kind.BREAKING)]
        assert refused(found, "1.0.0", version) == found
        assert refused(found, "1.0.0", "2.0.0") == []

    def test_every_difference_is_told(self) -> None:
        found = [
            Difference("one", "is new", Kind.CHANGE),
            Difference("two", "is gone", Kind.BREAKING),
            Difference("three", "says its title in other words", Kind.WORDS),
        ]
        assert told(found, "1.0.0").splitlines() == [
            "Since 1.0.0:",
            "  one: is new",
            "  and 1 descriptions and examples are other ones.",
            "What breaks clients:",
            "  two: is gone",
        ]
        assert told(found[:1], "1.0.0").splitlines()[-1].startswith("  and 0 ")
