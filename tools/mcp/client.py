"""The HTTP client of the tools: one business, its token, and error answers as text."""

import json
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import anyio
import httpx

READ_SCOPE: Final = "business_access_read"
PARTNER_TOKEN: Final = "/v1/platform/oauth2/token/"
# A server with default settings answers within 15 seconds.
ANSWER_SECONDS: Final = 30.0
ATTEMPTS: Final = 3
LONGEST_WAIT_SECONDS: Final = 10.0
# After one of these a write may have been executed or not.
UNKNOWN: Final = frozenset({500, 502, 503, 504})
# After one of these the request was not executed, and its key is free.
NOT_EXECUTED: Final = frozenset({401, 408, 429})


class CannotStart(Exception):
    """Credentials that open no business; the message is for the operator."""


class ApiProblem(Exception):
    """A request that did not succeed; the message is for the agent.

    `final` is false if the same write may be sent again with its key.
    """

    def __init__(self, text: str, *, final: bool) -> None:
        super().__init__(text)
        self.final = final


@dataclass(frozen=True, slots=True)
class Access:
    """A host, and credentials of one business: its token, or those of its partner."""

    host: str
    business_id: str = ""
    token: str = field(default="", repr=False)
    partner_id: str = ""
    api_key: str = field(default="", repr=False)
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON and the headers of a successful answer."""

    value: Any
    headers: Mapping[str, str]


class BusinessClient:
    """A client of one business. Every request may be repeated: it reads, previews, or has a key.

    With a partner's credentials it requests and renews the token itself; a token that only reads
    if `access.read_only`. Raises CannotStart if the credentials open no business.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        claims = claims_of(access.token) if access.token else {}
        self.business_id = business_of(access, claims)
        self.reads_only = access.read_only or claims.get("scope") == READ_SCOPE
        self.home = f"/v1/platform/businesses/{self.business_id}/"
        self._token = access.token
        self._renewal = anyio.Lock()
        self._remedies: dict[str, str] | None = None
        agent = f"accounting-mcp/{version('accounting-platform')}"
        self._http = httpx.AsyncClient(
            base_url=access.host, timeout=ANSWER_SECONDS, headers={"User-Agent": agent}
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON at a path below the business; raises ApiProblem."""
        given = {name: word for name, word in (query or {}).items() if word is not None}
        request = self._http.build_request("GET", self.home + path, params=given)
        return (await self._send(request)).value

    async def get_at(self, address: str, query: Mapping[str, Any]) -> Any:
        """Return the JSON at an address that the API returned; raises ApiProblem.

        Only addresses of the own business are read.
        """
        parts = urlsplit(address)
        path = parts.path.removeprefix(self.home)
        if parts.netloc or path == parts.path or "." in path or "%" in path:
            text = f"Send an address as the API returned it, which begins with {self.home}."
            raise ApiProblem(text, final=True)
        return await self.get(path, {**dict(parse_qsl(parts.query)), **query})

    async def etag_of(self, path: str) -> str | None:
        """Return the ETag of a record; raises ApiProblem."""
        answer = await self._send(self._http.build_request("GET", self.home + path))
        return answer.headers.get("ETag")

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], *, preview: bool = False
    ) -> Answer:
        """Send a body to a path below the business, byte for byte; raises ApiProblem."""
        request = self._http.build_request(
            "POST",
            self.home + path,
            params={"preview": "true"} if preview else None,
            content=body,
            headers={"Content-Type": "application/json", **headers},
        )
        return await self._send(request)

    async def _send(self, request: httpx.Request) -> Answer:
        response = await self._authenticated(request)
        if response.status_code == 401 and not self._access.token:
            response = await self._authenticated(request, renew=True)
        if response.is_success:
            try:
                return Answer(response.json(), response.headers)
            except ValueError as error:
                raise ApiProblem("The answer is not the API's: no JSON.", final=False) from error
        raise await self._problem(response)

    async def _authenticated(
        self, request: httpx.Request, *, renew: bool = False
    ) -> httpx.Response:
        refused = self._token if renew else ""
        async with self._renewal:
            if not self._access.token and self._token == refused:
                self._token = await self._issued()
        request.headers["Authorization"] = f"Bearer {self._token}"
        return await self._repeated(request)

    async def _issued(self) -> str:
        """Return a new token of the business for the partner's credentials."""
        basic = httpx.BasicAuth(self._access.partner_id, self._access.api_key)
        grant = {"grant_type": "client_credentials"}
        partner = await self._token_from(PARTNER_TOKEN, grant, {}, basic)
        path = f"/v1/platform/{self.business_id}/oauth2/token/"
        form = {"access": "read" if self.reads_only else "full"}
        return await self._token_from(path, form, {"Authorization": f"Bearer {partner}"}, None)

    async def _token_from(
        self,
        path: str,
        form: Mapping[str, str],
        headers: Mapping[str, str],
        auth: httpx.Auth | None,
    ) -> str:
        request = self._http.build_request("POST", path, data=form, headers=headers)
        response = await self._repeated(request, auth)
        if not response.is_success:
            raise await self._problem(response)
        return str(response.json()["access_token"])

    async def _repeated(
        self, request: httpx.Request, auth: httpx.Auth | None = None
    ) -> httpx.Response:
        """Send a request, and repeat it if it may succeed later; raises ApiProblem."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = await self._http.send(request, auth=auth)
            except httpx.TransportError as error:
                if attempt == ATTEMPTS:
                    raise ApiProblem(unreachable(self._access.host, error), final=False) from error
                wait = 0.25 * attempt
            else:
                if response.status_code not in (429, 503) or attempt == ATTEMPTS:
                    return response
                wait = seconds_asked(response)
            await anyio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _problem(self, response: httpx.Response) -> ApiProblem:
        body = json_of(response)
        code = str(body.get("error_code") or body.get("error") or "unknown")
        remedy = await self._remedy(code)
        status = response.status_code
        final = status not in UNKNOWN | NOT_EXECUTED and code != "idempotency_in_progress"
        if status == 401 and self._access.token:
            remedy = "Ask the operator to start these tools with a new ACCOUNTING_TOKEN."
        return ApiProblem(problem_text(status, code, body, remedy), final=final)

    async def _remedy(self, code: str) -> str:
        """Return what to do about an error code, by the contract that the server serves."""
        if self._remedies is None:
            try:
                served = await self._http.get("/openapi.json")
                codes = served.json()["components"]["x-error-codes"]
            except (httpx.TransportError, ValueError, KeyError):
                return ""
            self._remedies = {name: each["do"] for name, each in codes.items()}
        return self._remedies.get(code, "")


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a token, unverified: the server verifies it. Raises CannotStart."""
    try:
        part = token.split(".")[1]
        claims = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (IndexError, ValueError) as error:
        raise CannotStart("ACCOUNTING_TOKEN is not a token of a business.") from error
    return claims if isinstance(claims, dict) else {}


def business_of(access: Access, claims: Mapping[str, Any]) -> str:
    """Return the id of the business that the credentials open; raises CannotStart if none."""
    if not access.token:
        if not (access.partner_id and access.api_key and access.business_id):
            raise CannotStart(
                "Set ACCOUNTING_TOKEN to a token of the business; or ACCOUNTING_PARTNER_ID,"
                " ACCOUNTING_API_KEY and ACCOUNTING_BUSINESS_ID."
            )
        return access.business_id
    if access.partner_id or access.api_key:
        raise CannotStart("Set either ACCOUNTING_TOKEN or the partner's credentials, not both.")
    business_id = str(claims.get("business_id") or "")
    if not business_id:
        raise CannotStart("ACCOUNTING_TOKEN is not a token of a business.")
    if access.business_id not in ("", business_id):
        raise CannotStart("ACCOUNTING_TOKEN is of another business than ACCOUNTING_BUSINESS_ID.")
    return business_id


def problem_text(status: int, code: str, body: Mapping[str, Any], remedy: str) -> str:
    """Return an error answer as text: the message, each field with its reason, and what to do."""
    detail = body.get("detail") or {}
    message = body.get("message") or body.get("error_description") or "The answer is not the API's."
    lines = [f"{message} ({status} {code})"]
    for name, reasons in (detail.get("field_errors") or {}).items():
        lines += [f"- {name}: {reason}" for reason in reasons]
    for name, fact in detail.items():
        if name != "field_errors":
            lines.append(f"- {name}: {json.dumps(fact, ensure_ascii=False)}")
    if remedy:
        lines.append(f"What to do: {remedy}")
    if body.get("request_id"):
        lines.append(f"Request id: {body['request_id']}")
    return "\n".join(lines)


def unreachable(host: str, error: Exception) -> str:
    """Return the text for a request without an answer."""
    return (
        f"No answer from {host} ({type(error).__name__}: {error}).\n"
        "What to do: check that the server runs and that ACCOUNTING_URL is its address, then"
        " repeat the call."
    )


def json_of(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON object of an answer; an empty one if it is not from the API."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def seconds_asked(response: httpx.Response) -> float:
    """Return the seconds to wait that an answer asks for, at most 10."""
    asked = response.headers.get("Retry-After", "")
    return min(float(asked) if asked.isdecimal() else 1.0, LONGEST_WAIT_SECONDS)
