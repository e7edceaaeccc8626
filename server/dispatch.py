"""The end of the way in: caller, tenant, transaction, replay, handler, reply.

Everything that can be known of an operation is worked out once, at start-up; a handler asks for
what it needs by the names of its parameters.
"""

import inspect
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from connexion.middleware.abstract import RoutedAPI, RoutedMiddleware
from connexion.operations import AbstractOperation
from connexion.resolver import Resolution, Resolver
from starlette.types import Receive, Scope, Send

from access.keys import Keys
from access.links import Links
from access.principal import Caller
from accounting.errors import Refusal
from handlers import journal_entries
from persistence.books import Books
from persistence.cellar import Cellar
from persistence.identifiers import new_id
from persistence.pages import PageRequest
from persistence.registry import Registry
from persistence.replies import Claim, Outcome, of_business, of_partner
from persistence.sessions import Reading, Writing
from persistence.tenants import BusinessTenant, Deed, PartnerTenant
from persistence.transaction import Work, reading, writing
from server import errors, fingerprints, preconditions
from server.contract import Contract, ContractError, Operation
from server.replies import ReplyWriter
from server.validation import Call

PAGING = ("page", "page_size", "cursor", "count", "sort")
# fmt: off
OFFERED = frozenset({
    "books", "registry", "caller", "keyring", "links", "body", "query", "now", "page",
})
# fmt: on


class ContractResolver(Resolver):
    """Find each operation's handler: its tag names the module, its operationId the function."""

    def __init__(self, contract: Contract) -> None:
        super().__init__()
        self._contract = contract

    def resolve(self, operation: AbstractOperation) -> Resolution:
        """Return the handler; ContractError where the house has none."""
        found = self._contract.operations[operation.operation_id]
        module = import_module(f"handlers.{found.module}")
        handler = getattr(module, found.operation_id, None)
        if handler is None:
            raise ContractError(
                f"{found.operation_id} is in the contract, but handlers/{found.module}.py has no"
                " such function"
            )
        return Resolution(handler, found.operation_id)


class Desk:
    """One operation with its handler, ready to be called."""

    def __init__(
        self,
        operation: Operation,
        contract: Contract,
        handler: Any,
        cellar: Cellar,
        keys: Keys,
    ) -> None:
        self.operation = operation
        self.cellar = cellar
        self._handler = handler
        self._keys = keys
        self._wanted = frozenset(inspect.signature(handler).parameters)
        self._reads = operation.method == "GET"
        self._writer = ReplyWriter(operation, contract)
        self._refuse_unknown_names()

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one valid request."""
        visit = Visit(self, scope)
        outcome, replayed = await visit.serve()
        await self._writer.send(send, outcome, replayed=replayed)

    async def handle(self, visit: "Visit", desk: Books | Registry) -> Any:
        """Call the handler with what it asks for."""
        call = visit.call
        offered: dict[str, Any] = {
            **call.path,
            "books": desk,
            "registry": desk,
            "caller": visit.caller,
            "keyring": self._keys.keyring,
            "body": {**call.body, **call.files} if call.files else call.body,
            "query": call.query,
            "now": visit.now,
        }
        if "page" in self._wanted:
            offered["page"] = _page_request(call.query)
        if "links" in self._wanted:
            offered["links"] = Links(self._keys.signer, call.path["business_id"], visit.now)
        return await self._handler(**{name: offered[name] for name in self._wanted})

    def render(self, visit: "Visit", desk: Books | Registry, value: Any) -> Outcome:
        """Turn a handler's answer into bytes; the numbers are known by now."""
        return self._writer.render(value, desk, visit.scope, entries=visit.entries)

    @property
    def reads(self) -> bool:
        """Whether the operation changes nothing."""
        return self._reads

    @property
    def in_registry(self) -> bool:
        """Whether the handler works above businesses."""
        return "books" not in self._wanted

    def _refuse_unknown_names(self) -> None:
        named = {p.name for p in self.operation.parameters if p.place == "path"}
        unknown = self._wanted - named - OFFERED
        if unknown:
            raise ContractError(
                f"{self.operation.operation_id} asks for {', '.join(sorted(unknown))}, which the"
                " contract does not give it"
            )


class Visit:
    """One request at its desk."""

    def __init__(self, desk: Desk, scope: Scope) -> None:
        self.desk = desk
        self.scope = scope
        self.call: Call = scope["call"]
        self.caller: Caller = scope["caller"]
        self.now = datetime.now(UTC)
        self.preview: bool = self.call.query.pop("preview", False)
        self.entries: list[Any] | None = None

    async def serve(self) -> tuple[Outcome, bool]:
        """Return the outcome, and whether it is the replay of an earlier one."""
        if self.desk.reads:
            tenant = self._tenant()
            async with reading(self.desk.cellar.pool, tenant) as session:
                return await self._read(self._open(session, tenant)), False
        answered = await writing(self.desk.cellar.pool, self._work())
        if self.desk.in_registry:
            self.desk.cellar.gate.forget()
        return answered

    async def _read(self, opened: Books | Registry) -> Outcome:
        return self.desk.render(self, opened, await self.desk.handle(self, opened))

    def _work(self) -> Work:
        tenants: list[BusinessTenant | PartnerTenant] = []

        def tenant() -> BusinessTenant | PartnerTenant:
            tenants.append(self._tenant())
            return tenants[-1]

        return Work(
            tenant=tenant,
            now=self.now,
            business_id=None if self.desk.in_registry else self.call.path["business_id"],
            claim=None if self.preview else self._claim(),
            preview=self.preview,
            handle=lambda session: self._write(self._open(session, tenants[-1])),
            render_refusal=self._render_refusal,
            blobs=self.desk.cellar.blobs,
        )

    async def _write(self, opened: Books | Registry) -> Callable[[], Outcome]:
        value = await self.desk.handle(self, opened)
        if isinstance(opened, Books):
            opened.journal.reactivate_accounts()
            opened.balances.advance()
            if self.preview:
                self.entries = await journal_entries.preview(opened)
        return lambda: self.desk.render(self, opened, value)

    def _tenant(self) -> BusinessTenant | PartnerTenant:
        deed = Deed(self.desk.operation.operation_id, self.scope["request_id"])
        if self.desk.in_registry:
            return PartnerTenant(self.caller, deed)
        return BusinessTenant(self.caller, self.call.path["business_id"], deed)

    def _open(
        self, session: Reading | Writing, tenant: BusinessTenant | PartnerTenant
    ) -> Books | Registry:
        precondition = preconditions.read(self.call.if_match)
        if isinstance(tenant, PartnerTenant):
            return Registry(session, tenant, self.now, precondition)
        return Books(session, tenant, self.now, self.desk.cellar.roles, precondition)

    def _claim(self) -> Claim | None:
        key = self.call.idempotency_key
        if key is None:
            return None
        scope = (
            of_partner(self.caller.partner_id)
            if self.desk.in_registry
            else of_business(self.call.path["business_id"])
        )
        return Claim(scope, key, fingerprints.of(self.scope, self.call), new_id(), self.now)

    def _render_refusal(self, refusal: Refusal) -> Outcome:
        answer = errors.answer(refusal, self.scope["request_id"], self.scope["path"])
        headers = {name.decode(): value.decode() for name, value in answer.headers}
        return Outcome(answer.status, headers, answer.body)


def _page_request(query: Mapping[str, Any]) -> PageRequest:
    paging = {name: query[name] for name in PAGING if name in query}
    filters = {name: value for name, value in query.items() if name not in PAGING}
    return PageRequest(**paging, filters=filters)


class DispatchAPI(RoutedAPI[Desk]):
    """Builds the desk of every operation."""

    def __init__(self, *arguments: Any, cellar: Cellar, keys: Keys, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._contract = Contract(self.specification.raw)
        self._cellar = cellar
        self._keys = keys
        self.add_paths()

    def make_operation(self, operation: AbstractOperation) -> Desk:
        """Furnish one desk; Connexion calls this for each operation."""
        found = self._contract.operations[operation.operation_id]
        return Desk(found, self._contract, operation.function, self._cellar, self._keys)


class Dispatch(RoutedMiddleware[DispatchAPI]):
    """The application at the end of Connexion's middlewares."""

    api_cls = DispatchAPI

    def __init__(self, *, cellar: Cellar, keys: Keys, beyond: Callable[..., Any]) -> None:
        super().__init__(beyond)
        self._cellar = cellar
        self._keys = keys

    def add_api(self, specification: Any, **options: Any) -> Any:
        """Furnish the desks of one contract."""
        return super().add_api(specification, cellar=self._cellar, keys=self._keys, **options)
