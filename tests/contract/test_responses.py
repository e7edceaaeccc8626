"""The check that every answer of every test goes through finds what is wrong with one."""

from typing import Any

import httpx
import orjson
import pytest

from tests.contract.document import document, follow, media_types
from tests.contract.responses import check_response, contract, schemas

BUSINESS = "/v1/platform/businesses/0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02"
CUSTOMERS = f"{BUSINESS}/customers/"


def refusal_with(code: str) -> dict[str, Any]:
    return {
        "error_code": code,
        "message": "There is no such customer.",
        "detail": {},
        "request_id": "r1",
        "doc_url": f"/docs/errors/{code}/",
    }


NO_CUSTOMER = refusal_with("customer_not_found")


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
    return httpx.Response(
        status,
        headers={name: value for name, value in lines.items() if value},
        content=b"" if body is None else orjson.dumps(body),
        request=httpx.Request(method, f"https://accounting.example{path}", extensions=extensions),
    )


def page(**changes: Any) -> dict[str, Any]:
    shown: dict[str, Any] = example("CustomerPage")
    shown["results"][0] |= changes
    return shown


def refused(response: httpx.Response, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        check_response(response)


class TestCheckResponse:
    def test_takes_an_answer_as_documented_with_and_without_the_final_slash(self) -> None:
        check_response(answer(CUSTOMERS, page()))
        check_response(answer(CUSTOMERS.rstrip("/"), page()))
        check_response(answer(CUSTOMERS, page(), headers={"x-request-id": "7"}))

    def test_refuses_a_status_that_the_operation_does_not_document(self) -> None:
        refused(answer(CUSTOMERS, NO_CUSTOMER, status=404), r"documents \[200, 400, 401, 403\]")

    def test_refuses_a_field_that_the_schema_does_not_tell_about(self) -> None:
        refused(answer(CUSTOMERS, page(password="x")), "password")
        refused(answer(CUSTOMERS, {**page(), "rows": []}), "rows")

    def test_takes_any_field_where_the_schema_is_open(self) -> None:
        check_response(answer(CUSTOMERS, page(metadata={"anything": [1.5, None]})))

    def test_refuses_a_missing_field_and_a_wrong_type(self) -> None:
        without = page()
        del without["results"][0]["display_name"]
        refused(answer(CUSTOMERS, without), "display_name")
        refused(answer(CUSTOMERS, page(tax_exempt="no")), "tax_exempt")

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("id", "0197F0C6-3D51-7A8B-B1E2-6C4D8E9F0A03"),
            ("created_at", "2026-07-01T08:05:00+00:00"),
            ("created_at", "2026-02-30T08:05:00.000000Z"),
            ("outstanding_balance", 5.0),
            ("status", "active"),
        ],
    )
    def test_refuses_another_spelling_of_a_value(self, field: str, value: Any) -> None:
        refused(answer(CUSTOMERS, page(**{field: value})), f"results.0.{field}")

    def test_refuses_another_content_type(self) -> None:
        headers = {"content-type": "application/json; charset=utf-8"}
        refused(answer(CUSTOMERS, page(), headers=headers), "content type")

    def test_refuses_an_answer_without_its_request_id(self) -> None:
        refused(answer(CUSTOMERS, page(), headers={"x-request-id": ""}), "X-Request-ID is missing")

    def test_refuses_a_header_that_is_not_documented_or_not_well_formed(self) -> None:
        refused(answer(CUSTOMERS, page(), headers={"etag": '"3"'}), "ETag is not documented")
        one, path = example("Customer"), f"{CUSTOMERS}{example('Customer')['id']}/"
        check_response(answer(path, one, headers={"etag": '"3"'}))
        refused(answer(path, one, headers={"etag": "3"}), "header ETag")

    def test_refuses_a_code_that_belongs_to_another_status_or_is_unknown(self) -> None:
        path = f"{CUSTOMERS}{example('Customer')['id']}/"
        check_response(answer(path, NO_CUSTOMER, status=404))
        for code in ("reference_not_found", "no_such_code"):
            body = refusal_with(code)
            refused(answer(path, body, status=404), code)

    def test_refuses_a_code_that_the_operation_does_not_name(self) -> None:
        path = f"{CUSTOMERS}{example('Customer')['id']}/"
        body = refusal_with("invoice_not_found")
        refused(answer(path, body, status=404), "do not name `invoice_not_found`")

    def test_refuses_a_body_whose_request_id_is_not_the_header(self) -> None:
        path = f"{CUSTOMERS}{example('Customer')['id']}/"
        refused(answer(path, {**NO_CUSTOMER, "request_id": "r2"}, status=404), "request id")

    def test_refuses_a_500_unless_the_test_asked_for_one(self) -> None:
        body = refusal_with("internal_error")
        refused(answer(CUSTOMERS, body, status=500), "always a fault")
        check_response(answer(CUSTOMERS, body, status=500, faults_expected=True))

    def test_takes_what_the_transport_answers_at_any_operation(self) -> None:
        body = refusal_with("service_unavailable")
        check_response(answer(CUSTOMERS, body, status=503, headers={"retry-after": "1"}))
        refused(answer(CUSTOMERS, body, status=502), "documents")

    def test_wants_the_body_of_all_errors_where_there_is_no_operation(self) -> None:
        body = refusal_with("route_not_found")
        check_response(answer("/v1/nothing/", body, status=404))
        refused(answer("/v1/nothing/", {"detail": "Not Found"}, status=404), "error_code")
        refused(answer("/v1/nothing/", page()), "No operation")

    def test_wants_all_methods_of_the_address_in_allow(self) -> None:
        body = refusal_with("method_not_allowed")
        whole = {"allow": "GET, HEAD, POST"}
        check_response(answer(CUSTOMERS, body, status=405, method="PUT", headers=whole))
        short = {"allow": "GET, POST"}
        refused(answer(CUSTOMERS, body, status=405, method="PUT", headers=short), "Allow")

    def test_wants_no_body_in_an_answer_to_head(self) -> None:
        check_response(answer(CUSTOMERS, method="HEAD"))
        refused(answer(CUSTOMERS, page(), method="HEAD"), "HEAD has a body")

    def test_leaves_the_routes_of_the_service_alone(self) -> None:
        for path in ("/", "/health/live", "/docs/", "/openapi.yaml"):
            check_response(answer(path, "alive", headers={"content-type": "text/plain"}))


class TestAt:
    def test_a_literal_wins_over_a_variable(self) -> None:
        found = contract().at(f"{BUSINESS}/invoices/payments".encode())
        names = {route.operation_id for route in found}
        assert names == {"create_invoice_payment", "list_invoice_payments"}

    @pytest.mark.parametrize("segment", [b"%00", b"%ff", b"%2F", b""])
    def test_what_is_no_text_leads_nowhere(self, segment: bytes) -> None:
        assert contract().at(f"{BUSINESS}/customers/".encode() + segment + b"/") == []


class TestCheckTable:
    FILE = f"{BUSINESS}/general-ledger/chart-of-accounts/export/"

    def file(self, text: str, kept: str = 'attachment; filename="x.csv"') -> httpx.Response:
        headers = {
            "content-type": "text/csv; charset=utf-8",
            "x-request-id": "r1",
            "content-disposition": kept,
        }
        return httpx.Response(
            200,
            headers={name: value for name, value in headers.items() if value},
            content=text.encode(),
            request=httpx.Request("GET", f"https://accounting.example{self.FILE}"),
        )

    def test_takes_a_table(self) -> None:
        check_response(self.file(example("AccountFile")))
        check_response(self.file('a,b\r\n1,"two\nlines, one ""word"""\r\n'))

    def test_refuses_rows_that_are_not_as_wide_as_the_header(self) -> None:
        refused(self.file("a,b\r\n1\r\n"), "not as wide")
        refused(self.file("a,a\r\n1,2\r\n"), "one name")

    def test_refuses_what_is_no_file_to_keep(self) -> None:
        refused(self.file("a\r\n", kept=""), "Content-Disposition is missing")
        refused(self.file("a\r\n", kept="inline"), "Content-Disposition is 'inline'")

    def test_refuses_json_where_a_file_is_documented(self) -> None:
        refused(answer(self.FILE, {}), "content type")


class TestCheckPdf:
    FILE = f"{BUSINESS}/invoices/0197f0c8-62f4-7b9c-9d37-1a2b3c4d5e04/pdf/"

    def file(self, content: bytes, **changed: str) -> httpx.Response:
        headers = {
            "content-type": "application/pdf",
            "x-request-id": "r1",
            "content-disposition": 'attachment; filename="x.pdf"',
        }
        return httpx.Response(
            200,
            headers={**headers, **changed},
            content=content,
            request=httpx.Request("GET", f"https://accounting.example{self.FILE}"),
        )

    def test_takes_pages(self) -> None:
        check_response(self.file(b"%PDF-1.7\n\xe9\xff\x00\n%%EOF\n"))

    def test_refuses_what_is_none(self) -> None:
        refused(self.file(b"<html>"), "no PDF")

    def test_refuses_what_is_no_file_to_keep(self) -> None:
        refused(self.file(b"%PDF-", **{"content-disposition": "inline"}), "Content-Disposition")


class TestClosedSchema:
    def test_takes_every_example_and_none_with_a_field_more(self) -> None:
        for place, media in media_types():
            for each in media["examples"].values() if "/responses/" in place else ():
                value = follow(each)["value"]
                assert list(schemas().validator(media["schema"]).iter_errors(value)) == []
                if isinstance(value, str):  # A file.
                    continue
                assert (
                    not schemas().validator(media["schema"]).is_valid({**value, "one_more": 1})
                ), place
