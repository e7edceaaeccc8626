"""Batches: items, each a request of another operation, that run in few transactions.

An atomic batch is one transaction. An independent batch is a transaction for each group of items,
in which a refused item is undone alone. Either way a transaction runs alone in its business: the
items lock rows in any order, and no other writing of the business could wait for them in another.
See docs/decisions/0056.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import orjson
from starlette.types import Scope

from accounting.errors import ApiError, Conflict, RuleViolation
from handlers.results import FinishedBatch
from persistence.engine.caches import Caches
from persistence.engine.idempotency import EVENT_SEQUENCE, Claim, Outcome
from persistence.engine.ids import new_id
from persistence.engine.sessions import WriteSession
from persistence.engine.tenants import AuditedAction, BusinessTenant, PartnerTenant
from persistence.engine.transaction import (
    REFUSALS_OF_ITEMS,
    Handle,
    Work,
    run_item,
    run_together,
    writing,
)
from server.contract.document import Contract, Operation
from server.http.dispatch import Endpoint, Request
from server.http.errors import CODES_TO_ASK_AGAIN
from server.http.security import Authenticator, Check, check_of
from server.http.validation import Call
from server.http.writer import written

# An independent batch commits after so many items. The others of the business wait for one group,
# not for the whole batch; and PostgreSQL is fast with up to 64 savepoints in a transaction.
GROUP = 50

# Consecutive items of one of these are sent together. Each inserts a record that depends on no
# other record of its kind; names and numbers are unique in the database.
TOGETHER = frozenset(
    {
        "create_customer",
        "create_vendor",
        "create_invoice",
        "create_bill",
        "create_journal_entry",
    }
)

Result = dict[str, Any]


class BatchEndpoint(Endpoint):
    """The operation that runs other operations of the contract: its `endpoints`."""

    def __init__(
        self,
        operation: Operation,
        contract: Contract,
        handler: Any,
        endpoints: Mapping[str, Endpoint],
    ) -> None:
        super().__init__(operation, contract, handler)
        self.in_registry = False
        self.endpoints = endpoints
        items = contract.components["schemas"]["BatchOperation"]["enum"]
        self.checks = {name: check_of(contract.operations[name], contract) for name in items}

    def request(self, scope: Scope) -> "BatchRequest":
        """Return the batch of a scope."""
        return BatchRequest(self, scope)

    async def show(self, batch: FinishedBatch) -> Outcome:
        """Render the answer of a batch."""
        return written(await self._handler(batch=batch))


class ItemRequest(Request):
    """An item of a batch, as a request of its own operation."""

    def __init__(self, endpoint: Endpoint, check: Check, batch: Request, item: Call) -> None:
        path = {name: str(value) for name, value in item.path.items()}
        super().__init__(endpoint, {**batch.scope, "call": item, "path_params": path})
        self.preview = batch.preview
        self._check = check
        self._previewed: list[Any] = []

    def tenant(self) -> BusinessTenant:
        """Return the business as this item writes in it, inside the transaction of its batch."""
        audited = AuditedAction(self.endpoint.operation_id, self.scope["request_id"])
        business_id = self.call.path["business_id"]
        return BusinessTenant(self.caller, business_id, audited, self.seconds_ahead, in_batch=True)

    def handle_in(self, tenant: BusinessTenant, memory: Caches) -> Handle:
        """Return the function that calls the handler of this item in a session."""

        async def handle(session: WriteSession) -> Callable[[], Outcome]:
            self._check(self.caller)
            render = await self.write(self.open(session, tenant, memory))
            # They are in the answer of the batch, not in that of the item.
            self._previewed, self.entries = self.entries or [], None
            return render

        return handle

    def take_entries(self) -> list[Any]:
        """Return the entries that a preview of this item would post, once."""
        entries, self._previewed = self._previewed, []
        return entries

    def result(self, index: int, outcome: str, answer: Outcome | None) -> Result:
        """Return the result of this item; `answer` is None if it was not attempted."""
        return {
            "key": self.call.key,
            "index": index,
            "outcome": outcome,
            "status": answer and answer.status,
            "etag": answer and answer.headers.get("etag"),
            "body": answer and orjson.Fragment(answer.body),
        }


class BatchRequest(Request):
    """A batch at its endpoint."""

    def __init__(self, endpoint: BatchEndpoint, scope: Scope) -> None:
        super().__init__(endpoint, scope)
        self._batch = endpoint
        self._is_atomic = self.call.body["mode"] == "atomic"
        self._key = super()._claim()
        # The results of the groups that are committed; these never run again, whatever happens.
        self._done: list[Result] = []
        self._is_new = False
        self._last_event: str | None = None
        self._items = [
            ItemRequest(
                endpoint.endpoints[item.operation_id],
                endpoint.checks[item.operation_id],
                self,
                item,
            )
            for item in self.call.items
        ]

    async def serve(self) -> tuple[Outcome, bool]:
        """Count the items, then run them.

        Raises TooMany if they exceed what is left of this minute, and ValidationError if they
        exceed a whole minute.
        """
        authenticator: Authenticator = self.scope["authenticator"]
        authenticator.limits.refuse_batch(len(self._items))
        business_id = self.scope["path_params"]["business_id"].lower()
        # The request itself is counted already.
        self.scope["limits"], refusal = await authenticator.limits.take(
            self.caller.partner_id, business_id, len(self._items) - 1
        )
        if refusal is not None:
            raise refusal
        return await super().serve()

    async def _serve(self) -> tuple[Outcome, bool]:
        pool = self.services.resources.pool
        for item in self._items:
            item.seconds_ahead = self.seconds_ahead
        if self._is_atomic or self.preview:
            return await writing(pool, replace(self._work(), handle=self._run_whole))
        while len(self._done) < len(self._items):
            try:
                answer, replayed = await writing(pool, self._work_of_group(len(self._done)))
            except Conflict as refusal:
                if not self._done or refusal.code in CODES_TO_ASK_AGAIN:
                    raise
                answer, replayed = self._render_refusal(refusal), False
            if answer.status != 200 and not self._done:
                return answer, replayed
            self._is_new |= not replayed
            self._last_event = answer.headers.get(EVENT_SEQUENCE, self._last_event)
            self._done += self._results_of(answer)
        shown = await self._batch.show(FinishedBatch(self._done, None))
        if self._last_event is not None:
            shown.headers[EVENT_SEQUENCE] = self._last_event
        return shown, not self._is_new

    def _tenant(self) -> BusinessTenant | PartnerTenant:
        tenant = super()._tenant()
        assert isinstance(tenant, BusinessTenant), "a batch works in a business"
        tenant.alone = True
        return tenant

    def _claim(self) -> Claim | None:
        return self._key

    async def _run_whole(self, session: WriteSession) -> Callable[[], Outcome]:
        entries: list[Any] = []
        results = await self._run(session, 0, self._items, entries)
        finished = FinishedBatch(results, entries if self.preview else None)
        answer = await self._batch.show(finished)
        return lambda: answer

    def _work_of_group(self, first: int) -> Work:
        """Return the transaction of a group of items; its outcome is the list of their results."""

        async def run(session: WriteSession) -> Callable[[], Outcome]:
            items = self._items[first : first + GROUP]
            answer = written(await self._run(session, first, items, []))
            return lambda: answer

        key = self._key and replace(self._key, first=first, id=new_id())
        return replace(self._work(), handle=run, claim=key)

    async def _run(
        self,
        session: WriteSession,
        first: int,
        items: Sequence[ItemRequest],
        entries: list[Any],
    ) -> list[Result]:
        """Run items in their order; `entries` receives those that a preview would post.

        Raises RuleViolation `batch_rejected` for the first refusal in an atomic batch.
        """
        await session.begin_batch()
        # What an item reads may never be committed: it fills no cache of other requests.
        memory = Caches()
        results: list[Result] = []
        for alike in _runs(items):
            answers = None
            if len(alike) > 1 and not self.preview:
                tenant = alike[0].tenant()
                handles = [each.handle_in(tenant, memory) for each in alike]
                answers = await run_together(session, tenant, handles)
            for place, item in enumerate(alike):
                index = first + len(results)
                if answers is not None:
                    results.append(item.result(index, "succeeded", answers[place]))
                else:
                    results.append(await self._run_one(session, index, item, memory))
                entries += item.take_entries()
        return results

    async def _run_one(
        self, session: WriteSession, index: int, item: ItemRequest, memory: Caches
    ) -> Result:
        tenant = item.tenant()
        handle = item.handle_in(tenant, memory)
        try:
            answer = await run_item(session, tenant, handle, apart=not self._is_atomic)
        except REFUSALS_OF_ITEMS as refusal:
            if self._is_atomic:
                raise self._rejected(index, refusal) from refusal
            return item.result(index, "refused", self._render_item(refusal))
        return item.result(index, "succeeded", answer)

    def _rejected(self, refused: int, refusal: ApiError) -> RuleViolation:
        """Return the refusal of the whole batch because of one item."""
        answer = self._render_item(refusal)
        return RuleViolation(
            "batch_rejected",
            f"items.{refused} is refused, and nothing of the batch is saved: {refusal.message}",
            index=refused,
            key=self._items[refused].call.key,
            results=[
                item.result(index, "refused", answer)
                if index == refused
                else item.result(index, "not_attempted", None)
                for index, item in enumerate(self._items)
            ],
        )

    def _results_of(self, answer: Outcome) -> list[Result]:
        """Return the results of a group from its answer.

        A refusal is that of the business, for example because it was archived after an earlier
        group. Then it is the result of all items that are left.
        """
        if answer.status == 200:
            results: list[Result] = orjson.loads(answer.body)
            return results
        self.scope.pop("refused", None)  # The batch itself is not refused.
        left = enumerate(self._items[len(self._done) :], len(self._done))
        return [item.result(index, "refused", answer) for index, item in left]

    def _render_item(self, refusal: ApiError) -> Outcome:
        answer = self._render_refusal(refusal)
        del self.scope["refused"]  # As above.
        return answer


def _runs(items: Sequence[ItemRequest]) -> Iterator[list[ItemRequest]]:
    """Yield the items in their order: those that are sent together, and all others alone."""
    for operation, alike in groupby(items, lambda item: item.call.operation_id):
        listed = [*alike]
        size = GROUP if operation in TOGETHER else 1
        for start in range(0, len(listed), size):
            yield listed[start : start + size]
