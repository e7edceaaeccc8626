"""A small contract behind Connexion's own stack, and an admission that knows one partner."""

import asyncio
import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from connexion import ConnexionMiddleware
from connexion.resolver import Resolver

from access import api_keys
from access.master_secrets import MasterSecret
from access.principal import Caller, CallerKind
from access.tokens import Keyring
from accounting import errors
from persistence.partners.request_counts import OthersCounts
from server.http.limiter import FailedLogins, RequestLimits, SharedCounts
from server.http.routing import Routing
from server.http.security import SECURITY_MAP, Authenticator, Security

NOW = datetime(2026, 3, 14, 12, 0, 0, tzinfo=UTC)
PARTNER = UUID("0192f3aa-1111-7000-8000-00000000000a")
STRANGER = UUID("0192f3aa-9999-7000-8000-00000000000a")
BUSINESS = UUID("0192f3aa-2222-7000-8000-00000000000b")
FOREIGN = UUID("0192f3aa-3333-7000-8000-00000000000c")
KEYRING = Keyring([MasterSecret("a", bytes(range(32)))])
KEY = api_keys.make_key("live")
SEALED = api_keys.seal_key(KEY.text)

ALL: list[dict[str, list[str]]] = [{"BusinessToken": []}, {"PartnerToken": []}, {"PartnerKey": []}]


def operation(name: str, security: list[Any], tag: str = "Invoices") -> dict[str, Any]:
    fixed = {"tags": [tag], "responses": {"200": {"description": "Fine."}}}
    return {"get": {"operationId": name, "security": security, **fixed}}


def contract(paths: dict[str, Any], **schemes: Any) -> dict[str, Any]:
    schema = {"type": "string"}
    variable = {"name": "business_id", "in": "path", "required": True, "schema": schema}
    for path, item in paths.items():
        if "{business_id}" in path:
            item["get"]["parameters"] = [variable]
    known = {
        "PartnerKey": {"type": "http", "scheme": "basic"},
        "PartnerToken": {"type": "http", "scheme": "bearer", "x-token-kind": "partner"},
        "BusinessToken": {"type": "http", "scheme": "bearer", "x-token-kind": "business"},
    }
    components = {"securitySchemes": {**known, **schemes}}
    info = {"title": "Small", "version": "1"}
    return {"openapi": "3.0.3", "info": info, "paths": paths, "components": components}


def small_contract() -> dict[str, Any]:
    return contract(
        {
            "/v1/token/": operation("token", [{"PartnerKey": []}], "Access"),
            "/v1/businesses/": operation("list", [{"PartnerToken": []}, {"PartnerKey": []}]),
            "/v1/businesses/{business_id}/": operation("get", ALL, "Businesses"),
            "/v1/businesses/{business_id}/invoices/": operation("invoices", ALL),
            "/v1/businesses/{business_id}/refund/": operation("refund", [{"BusinessToken": []}]),
            "/v1/{business_id}/token/": operation("exchange", [{"PartnerToken": []}], "Access"),
            "/v1/open/": operation("open", [], "Service"),
        }
    )


@dataclass
class OnePartnerAdmission:
    """An admission that knows one partner with one key and one business, and records its calls."""

    trouble: Exception | None = None
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    async def check_key(self, partner_id: UUID, key: str) -> Caller:
        self.asked.append(("check_key", partner_id))
        if self.trouble is not None:
            raise self.trouble
        if not api_keys.opens(key, SEALED if partner_id == PARTNER else None):
            raise errors.NotAuthenticated("invalid_credentials", "No.")
        return Caller(CallerKind.PARTNER_KEY, partner_id, key_id=key.rpartition("_")[2][:8])

    async def admit_to_business(self, caller: Caller, business_id: str) -> None:
        self.asked.append(("admit_to_business", caller.kind, business_id))
        if self.trouble is not None:
            raise self.trouble
        if business_id != str(BUSINESS):
            raise errors.NotAllowed("permission_denied", f"{business_id} belongs to somebody else.")

    async def admit_partner(self, caller: Caller) -> None:
        self.asked.append(("admit_partner", caller.kind))
        if self.trouble is not None:
            raise self.trouble


async def report_alone(_minute: int, _counts: Mapping[str, int]) -> OthersCounts:
    """Report to no other worker."""
    return OthersCounts(1, {})


class SecuredStack:
    """Connexion's own stack with routing and security, and an application that keeps the scope."""

    def __init__(self, document: dict[str, Any] | None = None) -> None:
        self.admission = OnePartnerAdmission()
        self.now = NOW
        self.scope: dict[str, Any] | None = None
        counts = SharedCounts(report_alone, workers=1, clock=NOW.timestamp)
        self.authenticator = Authenticator(
            KEYRING,
            self.admission,
            FailedLogins(counts, most=3),
            RequestLimits(counts, partner=20, business=10),
            clock=lambda: self.now,
        )
        self.application = ConnexionMiddleware(
            self.end,
            import_name="tests",
            middlewares=[Routing, Security],
            security_map=SECURITY_MAP,
            resolver=Resolver(lambda _name: self.end),
        )
        self.application.add_api(document or small_contract(), base_path="")

    async def end(self, scope: Any, _receive: Any, _send: Any) -> None:
        self.scope = scope

    def get(
        self, path: str, *credentials: str | bytes, address: str = "203.0.113.9"
    ) -> dict[str, Any]:
        texts = (c if isinstance(c, bytes) else c.encode("latin-1") for c in credentials)
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", b"h"), *((b"authorization", text) for text in texts)],
            "client": (address, 4000),
            "authenticator": self.authenticator,
        }
        self.scope = None
        asyncio.run(self.application(scope, None, None))
        return self.reached()

    def reached(self) -> dict[str, Any]:
        assert self.scope is not None, "the request did not come through"
        return self.scope

    def refusal(self, path: str, *credentials: str | bytes, address: str = "x") -> errors.ApiError:
        with pytest.raises(errors.ApiError) as caught:
            self.get(path, *credentials, address=address)
        assert self.scope is None
        return caught.value


def basic(user: object = PARTNER, password: str = KEY.text) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def partner_token(issued: datetime = NOW) -> str:
    return "Bearer " + KEYRING.issue_partner_token(PARTNER, issued)


def business_token(business: UUID = BUSINESS, issued: datetime = NOW) -> str:
    return "Bearer " + KEYRING.issue_business_token(PARTNER, business, issued)


CREDENTIALS: dict[CallerKind, Callable[[], str]] = {
    CallerKind.PARTNER_KEY: basic,
    CallerKind.PARTNER_TOKEN: partner_token,
    CallerKind.BUSINESS_TOKEN: business_token,
}
