import json
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from starlette.exceptions import HTTPException

from accounting.errors import (
    ApiError,
    Conflict,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Outage,
    RuleViolation,
    TooMany,
    Unavailable,
    ValidationError,
)
from persistence.engine.database_errors import unavailable
from server.http import errors
from server.http.problems import (
    MethodNotAllowed,
    UnsupportedMediaType,
)

PARTNER_TOKEN = "/v1/platform/oauth2/token/"
BUSINESS = "/v1/platform/businesses/"
OTHER_GRANT = ValidationError.fields(grant_type=["must be client_credentials"])
FIELDS = {"error_code", "message", "detail", "request_id", "doc_url"}
EXCHANGE = "/v1/platform/00000000-0000-0000-0000-000000000001/oauth2/token/"


def answered(error: BaseException, path: str = "/v1/platform/businesses/") -> Any:
    return json.loads(errors.answer(error, "the-id", path).body)


def header(error: BaseException, name: bytes, path: str = "/v1/x") -> bytes | None:
    return dict(errors.answer(error, "the-id", path).headers).get(name)


class TestStatus:
    def test_a_kind_of_a_kind_has_the_status_of_its_parent(self) -> None:
        class Narrower(Conflict):
            pass

        assert errors.answer(Narrower("a_code", "Words."), "the-id").status == 409

    def test_no_kind_of_ours_is_left_out(self) -> None:
        def kinds(parent: type[ApiError]) -> set[type[ApiError]]:
            return set().union(*({kind, *kinds(kind)} for kind in parent.__subclasses__()))

        modules = {"accounting.errors", "server.http.problems"}
        own = {kind for kind in kinds(ApiError) if kind.__module__ in modules}
        assert own == set(errors.STATUS_OF_KIND)


class TestBody:
    def test_the_body_has_the_five_fields(self) -> None:
        error = Conflict("period_locked", "The period is locked.", lock_date="2026-01-31")
        assert answered(error) == {
            "error_code": "period_locked",
            "message": "The period is locked.",
            "detail": {"lock_date": "2026-01-31"},
            "request_id": "the-id",
            "doc_url": "/docs/errors/period_locked/",
        }

    def test_field_errors_stand_in_the_detail(self) -> None:
        error = ValidationError.fields(amount_cents=["must be at least 1"])
        assert answered(error)["detail"] == {
            "field_errors": {"amount_cents": ["must be at least 1"]}
        }

    @pytest.mark.parametrize("kind", [NotAuthenticated, NotAllowed])
    def test_refused_callers_also_get_the_field_error(self, kind: type[ApiError]) -> None:
        assert answered(kind("a_code", "Words."))["error"] == "Words."

    def test_an_error_of_another_path_has_no_oauth_field(self) -> None:
        assert "error" not in answered(NotFound("invoice_not_found", "There is no such invoice."))

    @pytest.mark.parametrize(
        "value", [UUID(int=1), 10**30, "\ud800", float("nan"), {1: {"deep": ["\udfff", 2**64]}}]
    )
    def test_any_value_of_a_client_is_quoted_in_detail(self, value: Any) -> None:
        assert answered(RuleViolation("a_code", "Words.", given=value))["error_code"] == "a_code"

    @pytest.mark.parametrize(
        ("method", "path", "key", "remedy"),
        [
            ("POST", BUSINESS, "k", errors.REPEAT_WITH_KEY),
            ("POST", BUSINESS, None, errors.CHECK_FIRST),
            ("PATCH", BUSINESS, None, errors.CHECK_FIRST),
            ("POST", f"{BUSINESS}?preview=true", None, errors.REPEAT),
            ("GET", BUSINESS, None, errors.REPEAT),
            ("DELETE", BUSINESS, None, errors.REPEAT),
            ("POST", PARTNER_TOKEN, None, errors.REPEAT),
            ("POST", EXCHANGE, None, errors.REPEAT),
        ],
    )
    def test_only_a_key_makes_a_write_safe_to_repeat(
        self, method: str, path: str, key: str | None, remedy: str
    ) -> None:
        path, _, query = path.partition("?")
        scope = {"method": method, "path": path, "query_string": query.encode()}
        assert errors.remedy_of(scope) == errors.REPEAT
        assert errors.remedy_of({**scope, "call": SimpleNamespace(idempotency_key=key)}) == remedy

    def test_an_outage_ends_with_what_the_caller_is_to_do(self) -> None:
        for error in (
            Outage("service_unavailable", "The books are away.", retry_after_seconds=1),
            unavailable(),
        ):
            body = json.loads(errors.answer(error, "the-id", BUSINESS, "Check it.").body)
            assert body["message"] == f"{error.message} Check it."
            assert body["detail"] == {"retry_after_seconds": 1}

    def test_the_content_length_is_the_length_of_the_body(self) -> None:
        answer = errors.answer(NotFound("a_code", "Größe"), "the-id")
        assert int(dict(answer.headers)[b"content-length"]) == len(answer.body)

    def test_a_bug_keeps_its_words_to_itself(self) -> None:
        error = RuntimeError("SELECT secret FROM partners")
        assert errors.answer(error, "the-id").status == 500
        assert answered(error) == {
            "error_code": "internal_error",
            "message": "The server failed. Report the request id to find the reason.",
            "detail": {},
            "request_id": "the-id",
            "doc_url": "/docs/errors/internal_error/",
        }


class TestLeakedExceptions:
    @pytest.mark.parametrize("status", sorted(errors.LEAKED))
    def test_a_leaked_exception_gets_our_message_for_its_status(self, status: int) -> None:
        answer = errors.answer(HTTPException(status, detail="theirs"), "the-id")
        assert answer.status == status
        assert (answer.error_code, b"theirs" in answer.body) == (errors.LEAKED[status][0], False)

    @pytest.mark.filterwarnings("ignore:jsonschema:DeprecationWarning")
    def test_connexions_own_are_among_them(self) -> None:
        from connexion.exceptions import Unauthorized

        answer = errors.answer(Unauthorized(), "the-id")
        assert (answer.status, answer.error_code) == (401, "authentication_required")

    def test_the_methods_they_name_are_kept(self) -> None:
        error = HTTPException(405, headers={"Allow": "GET, POST"})
        assert header(error, b"allow") == b"GET, POST"

    def test_a_status_we_do_not_know_is_a_bug(self) -> None:
        assert errors.answer(HTTPException(418), "the-id").status == 500


class TestHeaders:
    def test_405_lists_the_methods(self) -> None:
        error = MethodNotAllowed("method_not_allowed", "No.", allow=("GET", "HEAD", "POST"))
        assert header(error, b"allow") == b"GET, HEAD, POST"

    @pytest.mark.parametrize(
        ("error", "seconds"),
        [
            (TooMany("rate_limited", "Slower.", retry_after_seconds=12.2), b"13"),
            (TooMany("rate_limited", "Slower."), b"1"),
            (Unavailable("service_unavailable", "Later.", retry_after_seconds=0), b"1"),
            (Conflict("idempotency_in_progress", "Wait.", retry_after_seconds=2), b"2"),
            (Conflict("period_locked", "No."), None),
        ],
    )
    def test_a_temporary_error_has_retry_after(
        self, error: ApiError, seconds: bytes | None
    ) -> None:
        assert header(error, b"retry-after") == seconds

    @pytest.mark.parametrize(
        ("code", "path", "challenge"),
        [
            ("authentication_required", "/v1/x", b'Bearer realm="accounting"'),
            ("invalid_token", "/v1/x", b'Bearer realm="accounting", error="invalid_token"'),
            ("token_expired", "/v1/x", b'Bearer realm="accounting", error="invalid_token"'),
            ("invalid_credentials", "/v1/x", b'Bearer realm="accounting"'),
            ("invalid_credentials", PARTNER_TOKEN, b'Basic realm="accounting", charset="UTF-8"'),
            ("invalid_token", EXCHANGE, b'Bearer realm="accounting", error="invalid_token"'),
        ],
    )
    def test_401_says_how_to_authenticate(self, code: str, path: str, challenge: bytes) -> None:
        assert header(NotAuthenticated(code, "Who?"), b"www-authenticate", path) == challenge

    def test_403_does_not_ask_for_credentials(self) -> None:
        assert header(NotAllowed("permission_denied", "No."), b"www-authenticate") is None


class TestTokenEndpoints:
    @pytest.mark.parametrize(
        ("error", "path", "word"),
        [
            (ValidationError("validation_error", "No."), PARTNER_TOKEN, "invalid_request"),
            (ValidationError.fields(grant_type=["is required"]), PARTNER_TOKEN, "invalid_request"),
            (OTHER_GRANT, PARTNER_TOKEN, "unsupported_grant_type"),
            (NotAuthenticated("invalid_credentials", "No."), PARTNER_TOKEN, "invalid_client"),
            (NotAuthenticated("token_expired", "No."), EXCHANGE, "invalid_token"),
            (NotAllowed("permission_denied", "No."), EXCHANGE, "access_denied"),
            (UnsupportedMediaType("unsupported_media_type", "No."), EXCHANGE, "invalid_request"),
            (RuntimeError(), PARTNER_TOKEN, "server_error"),
            (Unavailable("service_unavailable", "No."), PARTNER_TOKEN, "server_error"),
        ],
    )
    @pytest.mark.parametrize("slash", ["/", ""])
    def test_a_token_endpoint_answers_the_fields_of_oauth_and_ours(
        self, error: Exception, path: str, word: str, slash: str
    ) -> None:
        body = answered(error, path.rstrip("/") + slash)
        assert body["error"] == word
        assert body.keys() == FIELDS | {"error", "error_description"}

    def test_the_description_keeps_to_the_characters_of_oauth(self) -> None:
        error = ValidationError("validation_error", 'Größe "x" \\ \n')
        assert answered(error, PARTNER_TOKEN)["error_description"] == "Gr''e 'x' ' '"

    def test_no_other_path_does(self) -> None:
        body = answered(NotFound("route_not_found", "No."), "/v1/platform/a/b/oauth2/token/")
        assert "error_description" not in body
