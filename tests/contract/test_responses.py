"""The check of every answer of every test."""

from typing import Any

import httpx
import orjson
import pytest

from tests.contract.document import document, follow, media_types
from tests.contract.responses import check_response, contract, schemas

HOST = "https://accounting.example"
BUSINESS = "/v1/platform/businesses/0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02"
CUSTOMERS = f"{BUSINESS}/customers/"
TABLE = f"{BUSINESS}/general-ledger/chart-of-accounts/export/"
PDF = f"{BUSINESS}/invoices/0197f0c8-62f4-7b9c-9d37-1a2b3c4d5e04/pdf/"


def refusal(code: str, request_id: str = "r1") -> dict[str, Any]:
    return {
        "error_code": code,
        "message": "There is no such customer.",
        "detail": {},
        "request_id": request_id,
        "doc_url": f"/docs/errors/{code}/",
    }


def example(name: str) -> Any:
    return orjson.loads(orjson.dumps(document()["components"]["examples"][name]["value"]))


def answer(
    path: str = CUSTOMERS,
    body: Any = None,
    *,
    status: int = 200,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    **extensions: bool,
) -> httpx.Response:
    lines = {"content-type": "application/json", "x-request-id": "r1", **(headers or {})}
    content = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
    return httpx.Response(
        status,
        headers={name: value for name, value in lines.items() if value},
        content=content,
        request=httpx.Request(method, f"{HOST}{path}", extensions=extensions),
    )


def listed(**headers: str) -> httpx.Response:
    """Return a page of customers with other headers."""
    return answer(CUSTOMERS, page(), headers={n.replace("_", "-"): v for n, v in headers.items()})


def page(**changes: Any) -> dict[str, Any]:
    shown: dict[str, Any] = example("CustomerPage")
    shown["results"][0] |= changes
    return shown


def table(text: str, disposition: str = 'attachment; filename="x.csv"') -> httpx.Response:
    headers = {"content-type": "text/csv; charset=utf-8", "content-disposition": disposition}
    return answer(TABLE, text.encode(), headers=headers)


def pdf(content: bytes, disposition: str = 'attachment; filename="x.pdf"') -> httpx.Response:
    headers = {"content-type": "application/pdf", "content-disposition": disposition}
    return answer(PDF, content, headers=headers)


def not_allowed(allow: str) -> httpx.Response:
    body = refusal("method_not_allowed")
    return answer(CUSTOMERS, body, status=405, method="PUT", headers={"allow": allow})


CUSTOMER = f"{CUSTOMERS}{example('Customer')['id']}/"
NO_CUSTOMER = refusal("customer_not_found")
FAULT = refusal("internal_error")
UNAVAILABLE = refusal("service_unavailable")
NAMELESS = page()
del NAMELESS["results"][0]["display_name"]
TAKEN = {
    "a documented answer": listed(),
    "without the final slash": answer(CUSTOMERS.rstrip("/"), page()),
    "another request id": listed(x_request_id="7"),
    "any field of an open object": answer(CUSTOMERS, page(metadata={"anything": [1.5, None]})),
    "a documented header": answer(CUSTOMER, example("Customer"), headers={"etag": '"3"'}),
    "a code of the operation": answer(CUSTOMER, NO_CUSTOMER, status=404),
    "an expected fault": answer(CUSTOMERS, FAULT, status=500, faults_expected=True),
    "an answer of the transport": answer(
        CUSTOMERS, UNAVAILABLE, status=503, headers={"retry-after": "1"}
    ),
    "a refusal of no operation": answer("/v1/nothing/", refusal("route_not_found"), status=404),
    "all methods in Allow": not_allowed("GET, HEAD, POST"),
    "no body to HEAD": answer(CUSTOMERS, method="HEAD"),
    **{
        f"the page {path}": answer(path, "alive", headers={"content-type": "text/plain"})
        for path in ("/", "/health/live", "/docs/", "/openapi.yaml")
    },
    "an example of a table": table(example("AccountFile")),
    "a table with quotes": table('a,b\r\n1,"two\nlines, one ""word"""\r\n'),
    "a PDF": pdf(b"%PDF-1.7\n\xe9\xff\x00\n%%EOF\n"),
}
REFUSED = {
    "a status": (answer(CUSTOMERS, NO_CUSTOMER, status=404), r"documents \[200, 400, 401, 403\]"),
    "a field of an item": (answer(CUSTOMERS, page(password="x")), "password"),
    "a field of the page": (answer(CUSTOMERS, {**page(), "rows": []}), "rows"),
    "a missing field": (answer(CUSTOMERS, NAMELESS), "display_name"),
    "a wrong type": (answer(CUSTOMERS, page(tax_exempt="no")), "tax_exempt"),
    **{
        f"{field}: {value}": (answer(CUSTOMERS, page(**{field: value})), f"results.0.{field}")
        for field, value in (
            ("id", "0197F0C6-3D51-7A8B-B1E2-6C4D8E9F0A03"),
            ("created_at", "2026-07-01T08:05:00+00:00"),
            ("created_at", "2026-02-30T08:05:00.000000Z"),
            ("outstanding_balance", 5.0),
            ("status", "active"),
        )
    },
    "a content type": (listed(content_type="application/json; charset=utf-8"), "content type"),
    "no request id": (listed(x_request_id=""), "X-Request-ID is missing"),
    "an unknown header": (listed(etag='"3"'), "ETag is not documented"),
    "a malformed header": (
        answer(CUSTOMER, example("Customer"), headers={"etag": "3"}),
        "header ETag",
    ),
    **{
        f"the code {code}": (answer(CUSTOMER, refusal(code), status=404), why)
        for code, why in (
            ("reference_not_found", "reference_not_found"),
            ("no_such_code", "no_such_code"),
            ("invoice_not_found", "do not name `invoice_not_found`"),
        )
    },
    "a request id other than the header": (
        answer(CUSTOMER, refusal("customer_not_found", "r2"), status=404),
        "request id",
    ),
    "an unexpected fault": (answer(CUSTOMERS, FAULT, status=500), "always a fault"),
    "an unknown status": (answer(CUSTOMERS, UNAVAILABLE, status=502), "documents"),
    "a refusal in other words": (
        answer("/v1/nothing/", {"detail": "Not Found"}, status=404),
        "error_code",
    ),
    "a page of no operation": (answer("/v1/nothing/", page()), "No operation"),
    "a method that Allow lacks": (not_allowed("GET, POST"), "Allow"),
    "a body to HEAD": (answer(CUSTOMERS, page(), method="HEAD"), "HEAD has a body"),
    "a narrow row": (table("a,b\r\n1\r\n"), "not as wide"),
    "a name of two columns": (table("a,a\r\n1,2\r\n"), "one name"),
    "a table that is not saved": (table("a\r\n", ""), "Content-Disposition is missing"),
    "a table that is shown": (table("a\r\n", "inline"), "Content-Disposition is 'inline'"),
    "JSON for a table": (answer(TABLE, {}), "content type"),
    "HTML for a PDF": (pdf(b"<html>"), "no PDF"),
    "a PDF that is shown": (pdf(b"%PDF-", "inline"), "Content-Disposition"),
}


class TestCheckResponse:
    @pytest.mark.parametrize("name", TAKEN)
    def test_a_documented_answer_passes(self, name: str) -> None:
        check_response(TAKEN[name])

    @pytest.mark.parametrize("name", REFUSED)
    def test_an_undocumented_answer_fails_the_test(self, name: str) -> None:
        response, why = REFUSED[name]
        with pytest.raises(AssertionError, match=why):
            check_response(response)


class TestAt:
    def test_a_literal_wins_over_a_variable(self) -> None:
        found = contract().at(f"{BUSINESS}/invoices/payments".encode())
        names = {route.operation_id for route in found}
        assert names == {"create_invoice_payment", "list_invoice_payments"}

    @pytest.mark.parametrize("segment", [b"%00", b"%ff", b"%2F", b""])
    def test_a_segment_without_text_matches_nothing(self, segment: bytes) -> None:
        assert contract().at(CUSTOMERS.encode() + segment + b"/") == []


class TestClosedSchema:
    def test_every_example_is_valid_and_none_is_with_another_field(self) -> None:
        for place, media in media_types():
            validator = schemas().validator(media["schema"])
            for each in media["examples"].values() if "/responses/" in place else ():
                value = follow(each)["value"]
                assert list(validator.iter_errors(value)) == []
                if not isinstance(value, str):  # A file has no fields.
                    assert not validator.is_valid({**value, "one_more": 1}), place
