"""The last layer: caller, tenant, transaction, replay, handler, reply.

Everything that is known of an operation is computed once, at start-up. A handler receives the
arguments that its parameters name.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import orjson
from connexion.resolver import Resolver
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

import handlers
from access.links import Keys, Links
from access.principal import Caller
from accounting.absent import RequestObject
from accounting.errors import ApiError
from handlers.books import journal_entries
from handlers.results import ExistingRecord
from handlers.shared import answer_warnings, external_names
from handlers.shared.external_names import NamedBody
from handlers.shared.outside import CallNeeded, Outside
from libraries.outbound.client import Client
from persistence.books import Books
from persistence.engine.caches import Caches
from persistence.engine.idempotency import Claim, Outcome, of_business, of_partner
from persistence.engine.ids import new_id
from persistence.engine.observer import observer
from persistence.engine.pages import PageRequest
from persistence.engine.replica import Replica
from persistence.engine.sessions import ReadSession, WriteSession
from persistence.engine.tenants import AuditedAction, BusinessTenant, MovedClock, PartnerTenant
from persistence.engine.transaction import Work, reading, reading_eventually, writing
from persistence.partners.registry import Registry
from persistence.resources import Resources
from persistence.scope import Precondition
from server.clock import Clock
from server.contract.document import Contract, ContractError, Operation
from server.http import errors
from server.http.feed_waits import FeedWaits
from server.http.named_records import add_field, places_of_names
from server.http.security import Authenticator
from server.http.validation import Call
from server.http.writer import ReplyWriter

# Parsing of If-Match into the versions that the client accepts.


_TAG = re.compile(r'"([0-9]{1,19})"')


def parse_if_match(if_match: str | None) -> Precondition | None:
    """Parse the header: `*` accepts any version, a list of tags those versions, anything else none.

    A weak tag never matches (RFC 9110, section 13.1.1).
    """
    if if_match is None:
        return None
    if if_match.strip() == "*":
        return Precondition(None)
    tags = (_TAG.fullmatch(part.strip()) for part in if_match.split(","))
    return Precondition(frozenset(int(tag[1]) for tag in tags if tag))


# Fingerprints of requests: equal for requests with the same meaning.


_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


def fingerprint_of(scope: Scope, call: Call) -> bytes:
    """Compute the digest (32 bytes) of the operation, its address and its decoded values.

    Two spellings of one body (spaces, order of keys, JSON or form) have the same fingerprint; a
    file counts by its name and its content.
    """
    files = {
        name: [upload.file_name, sha256(upload.content).hexdigest()]
        for name, upload in call.files.items()
    }
    parts = [call.operation_id, scope["path_params"], call.query, call.body, files]
    return sha256(orjson.dumps(parts, default=_plain, option=_SORTED)).digest()


def _plain(value: Any) -> str:
    return sha256(value).hexdigest() if isinstance(value, bytes) else str(value)


PAGING = ("page", "page_size", "cursor", "count", "sort")
# fmt: off
OFFERED = frozenset({
    "books", "registry", "caller", "keyring", "links", "body", "query", "now", "page", "files",
    "clocks_move", "preview", "answer_format", "batch", "outside", "vault",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class Services:
    """The shared services of an application; each request has them as `scope["services"]`.

    `clocks_move` if partners may move the clocks of their sandboxes.
    """

    resources: Resources
    keys: Keys
    clock: Clock
    clocks_move: bool
    outbound: Client
    waits: FeedWaits = field(default_factory=FeedWaits)


class BoundStack:
    """The stack of one application, with the services of its requests.

    `life` is the context manager of its start-up and shutdown.
    """

    def __init__(
        self,
        stack: ASGIApp,
        services: Services,
        authenticator: Authenticator,
        life: Callable[[Any], AbstractAsyncContextManager[None]],
    ) -> None:
        self._stack = stack
        self._services = services
        self._authenticator = authenticator
        self._life = Router(lifespan=life)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or start up and shut down."""
        if scope["type"] == "lifespan":
            await self._life(scope, receive, send)
            return
        scope["services"] = self._services
        scope["authenticator"] = self._authenticator
        await self._stack(scope, receive, send)


class ContractResolver(Resolver):
    """A resolver of handlers: an operation's tag names the module, its operationId the function."""

    def __init__(self, contract: Contract) -> None:
        super().__init__()
        self._contract = contract

    def resolve_function_from_operation_id(self, operation_id: str) -> Any:
        """Return the handler; ContractError if it does not exist."""
        found = self._contract.operations[operation_id]
        handler = getattr(handlers_of(found.module), found.operation_id, None)
        if handler is None:
            raise ContractError(
                f"{found.operation_id} is in the contract, but no handlers/*/{found.module}.py has"
                " such function"
            )
        return handler


@cache
def handlers_of(tag: str) -> ModuleType | None:
    """Return the handlers' module of a tag, whatever subject it belongs to."""
    for subject in iter_modules(handlers.__path__, "handlers."):
        if subject.ispkg and find_spec(f"{subject.name}.{tag}"):
            return import_module(f"{subject.name}.{tag}")
    return None


class Endpoint:
    """An operation with its handler, ready to be called.

    `reads`: it changes nothing. `in_registry`: it works above businesses.
    """

    def __init__(
        self,
        operation: Operation,
        contract: Contract,
        handler: Any,
    ) -> None:
        self.operation_id = operation.operation_id
        self._handler = handler
        self._wanted = frozenset(inspect.signature(handler).parameters)
        self.reads = operation.method == "GET"
        self.in_registry = "books" not in self._wanted
        self._names = places_of_names(operation, contract)
        self._writer = ReplyWriter(operation, contract)
        self._refuse_unknown_names(operation)

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one valid request."""
        request = self.request(scope)
        with observer.get().in_package("handlers"):
            outcome, replayed = await request.serve()
        await self._writer.send(send, outcome, replayed=replayed)

    def request(self, scope: Scope) -> "Request":
        """Return the request of a scope."""
        return Request(self, scope)

    async def handle(self, request: "Request", opened: Books | Registry) -> Any:
        """Call the handler with the arguments that it declares."""
        call, named = request.call, NamedBody(request.body)
        if self._names and isinstance(opened, Books):
            named = await external_names.with_ids(opened, named.body, self._names)
        offered: dict[str, Any] = {
            **call.path,
            "books": opened,
            "registry": opened,
            "caller": request.caller,
            "keyring": request.services.keys.keyring,
            "body": named.body,
            "query": call.query,
            "now": request.now,
            "files": request.services.resources.blobs,
            "clocks_move": request.services.clocks_move,
            "preview": request.preview,
            "vault": request.services.keys.vault,
        }
        if "outside" in self._wanted:
            offered["outside"] = request.outside
        if "page" in self._wanted:
            offered["page"] = _page_request(call.query)
        if "answer_format" in self._wanted:
            offered["answer_format"] = self._writer.format_for(request.scope)
        if "links" in self._wanted:
            signer = request.services.keys.signer
            offered["links"] = Links(signer, call.path["business_id"], request.now)
        try:
            value = await self._handler(**{name: offered[name] for name in self._wanted})
            if named.unknown or named.mismatched:
                named.refuse(value)
        except ApiError as error:
            add_field(error, named.body)
            named.restore(error)
            raise
        request.named = named
        return value

    def render(self, request: "Request", opened: Books | Registry, value: Any) -> Outcome:
        """Render a handler's answer as bytes; document numbers are assigned by now."""
        return self._writer.render(
            value, opened, request.scope, preview=request.preview, entries=request.entries
        )

    async def render_read(
        self, request: "Request", opened: Books | Registry, value: Any
    ) -> Outcome:
        """Render the result of a read as bytes."""
        return await self._writer.render_read(value, opened, request.scope)

    def _refuse_unknown_names(self, operation: Operation) -> None:
        named = {p.name for p in operation.parameters if p.place == "path"}
        unknown = self._wanted - named - OFFERED
        if unknown:
            raise ContractError(
                f"{self.operation_id} asks for {', '.join(sorted(unknown))}, which the"
                " contract does not give it"
            )


class Request:
    """A request at its endpoint."""

    def __init__(self, endpoint: Endpoint, scope: Scope) -> None:
        self.endpoint = endpoint
        self.scope = scope
        self.call: Call = scope["call"]
        self.services: Services = scope["services"]
        self.caller: Caller = scope["caller"]
        self.now = self.services.clock()
        self.seconds_ahead = 0  # Of the clock of a sandbox, relative to `now`.
        self.preview: bool = self.call.query.pop("preview", False)
        # An operation without that parameter reads from the primary.
        self.may_lag = self.call.query.pop("consistency", "strong") == "eventual"
        self.wait_seconds: int = self.call.query.pop("wait", 0)
        self.entries: list[Any] | None = None
        self.named = NamedBody(None)  # The body for the handler, once it has its ids.

    @cached_property
    def outside(self) -> Outside:
        """The calls to hosts of strangers that this request needs."""
        return Outside(self.services.outbound)

    @property
    def body(self) -> Any:
        """The decoded body with its files; None if there is none."""
        call = self.call
        return RequestObject({**call.body, **call.files}) if call.files else call.body

    async def serve(self) -> tuple[Outcome, bool]:
        """Return the outcome, and whether it is a replay of an earlier one.

        The clock offset of a sandbox is known only once its books are read. Then the request starts
        over with that offset, and again if the clock moves meanwhile. So it does after each call to
        the world outside.
        """
        while True:
            try:
                return await self._serve()
            except MovedClock as moved:
                self.seconds_ahead = moved.seconds_ahead
            except CallNeeded as needed:
                await self.outside.make(needed)

    async def _serve(self) -> tuple[Outcome, bool]:
        replica = self.services.resources.replica
        if self.may_lag and replica is not None:
            return await self._read_eventually(replica), False
        if self.endpoint.reads:
            return await self._read(), False
        answered = await writing(self.services.resources.pool, self._work())
        if self.endpoint.in_registry:
            self.services.resources.admission.forget()
        return answered

    async def _read(self) -> Outcome:
        """Read; no connection is held while the answer is rendered, which may take long."""
        if self.wait_seconds:
            feed, waits = self._tenant().id, self.services.waits
            opened, value = await waits.read(
                self.scope, feed, self.wait_seconds, self._in_reading, self._answer
            )
        else:
            opened, value = await self._in_reading(self._answer)
        return await self.endpoint.render_read(self, opened, value)

    async def _in_reading(self, work: Callable[[Books | Registry], Awaitable[Any]]) -> Any:
        """Call a function in a reading of its own."""
        tenant = self._tenant()
        async with reading(self.services.resources.pool, tenant) as session:
            return await work(self.open(session, tenant))

    async def _answer(self, opened: Books | Registry) -> tuple[Books | Registry, Any]:
        return opened, await self.endpoint.handle(self, opened)

    async def _read_eventually(self, replica: Replica) -> Outcome:
        async def read(session: ReadSession, tenant: BusinessTenant | PartnerTenant) -> Any:
            # Reads from a standby may be stale, so they do not fill the cache that writes use.
            opened = self.open(session, tenant, Caches())
            return opened, await self.endpoint.handle(self, opened)

        pool = self.services.resources.pool
        (opened, value), as_of = await reading_eventually(pool, replica, self._tenant, read)
        outcome = await self.endpoint.render_read(self, opened, value)
        if as_of is not None:
            told = as_of.astimezone(UTC).isoformat(timespec="microseconds")
            outcome.headers["x-data-as-of"] = told.replace("+00:00", "Z")
        return outcome

    def _work(self) -> Work:
        tenants: list[BusinessTenant | PartnerTenant] = []

        def tenant() -> BusinessTenant | PartnerTenant:
            tenants.append(self._tenant())
            return tenants[-1]

        return Work(
            tenant=tenant,
            now=self.now,
            business_id=None if self.endpoint.in_registry else self.call.path["business_id"],
            claim=None if self.preview else self._claim(),
            preview=self.preview,
            handle=lambda session: self.write(self.open(session, tenants[-1])),
            render_refusal=self._render_refusal,
            contents=self.services.resources.blobs,
        )

    async def write(self, opened: Books | Registry) -> Callable[[], Outcome]:
        """Call the handler; return the function that renders its answer after the flush."""
        value = await self.endpoint.handle(self, opened)
        if isinstance(value, ExistingRecord) or opened.created_parties:
            value = await answer_warnings.added(value, opened, self.named)
        if isinstance(opened, Books):
            opened.finish()
            if self.preview:
                self.entries = await journal_entries.preview(opened)
        return lambda: self.endpoint.render(self, opened, value)

    def _tenant(self) -> BusinessTenant | PartnerTenant:
        audited = AuditedAction(self.endpoint.operation_id, self.scope["request_id"])
        if self.endpoint.in_registry:
            return PartnerTenant(self.caller, audited)
        business_id = self.call.path["business_id"]
        return BusinessTenant(self.caller, business_id, audited, self.seconds_ahead)

    def open(
        self,
        session: ReadSession | WriteSession,
        tenant: BusinessTenant | PartnerTenant,
        memory: Caches | None = None,
    ) -> Books | Registry:
        """Return what the handler works on: the books of a business, or a registry."""
        precondition = parse_if_match(self.call.if_match)
        if isinstance(tenant, PartnerTenant):
            return Registry(session, tenant, self.now, precondition)
        now = self.now + timedelta(seconds=self.seconds_ahead)
        remembered = memory or self.services.resources.memory
        return Books(session, tenant, now, remembered, precondition)

    def _claim(self) -> Claim | None:
        key = self.call.idempotency_key
        if key is None:
            return None
        scope = (
            of_partner(self.caller.partner_id)
            if self.endpoint.in_registry
            else of_business(self.call.path["business_id"])
        )
        operation = self.endpoint.operation_id
        fingerprint = fingerprint_of(self.scope, self.call)
        return Claim(scope, key, operation, fingerprint, new_id(), self.now)

    def _render_refusal(self, refusal: ApiError) -> Outcome:
        answer = errors.answer(refusal, self.scope["request_id"], self.scope["path"])
        self.scope["refused"] = refusal.code  # For the edge, to which it is an ordinary answer.
        headers = {name.decode(): value.decode() for name, value in answer.headers}
        return Outcome(answer.status, headers, bytes(answer.body))


def _page_request(query: Mapping[str, Any]) -> PageRequest:
    paging = {name: query[name] for name in PAGING if name in query}
    filters = {name: value for name, value in query.items() if name not in PAGING}
    return PageRequest(**paging, filters=filters)
