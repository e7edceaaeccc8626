"""Work of the sandbox commands, separate from their definition because it imports the API."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
import typer

from access.principal import Caller, CallerKind
from accounting.absent import RequestObject
from cli.databases import opened, ready, run
from cli.demo.demo_books import prepare
from cli.named_records import NamedRecords
from cli.progress import Progress
from handlers.platform import sandboxes as desk
from persistence.engine.connections import connect
from persistence.engine.idempotency import Outcome
from persistence.engine.pool import Pool
from persistence.engine.sessions import WriteSession
from persistence.engine.tenants import AuditedAction, PartnerTenant
from persistence.engine.transaction import Work, writing
from persistence.files.blobs import Blobs
from persistence.partners import sandboxes
from persistence.partners.registry import Registry
from server.config import settings


def prepare_template() -> None:
    """Fill a new sandbox template in the configured database."""
    loaded = settings.load(development=True)
    with Progress() as progress, ready(loaded, progress.begin) as database:
        asyncio.run(prepare(loaded, database.url, progress))
        progress.end()
    typer.echo("Sandboxes are copied from new books now, with a year of trade up to today.")


def create_sandbox(partner_id: UUID, external_id: str | None, name: str | None) -> dict[str, Any]:
    """Create a sandbox of a partner or find it by its external id; raises an API error."""
    loaded = settings.load_stores()
    wanted = {"external_id": external_id or f"sandbox-{uuid4()}"} | ({"name": name} if name else {})
    with ready(loaded, named=NamedRecords(partner=partner_id)) as database:
        blobs = Blobs(loaded.documents)
        return run(database.url, lambda pool: _create(pool, blobs, partner_id, wanted))


async def _create(
    pool: Pool, blobs: Blobs, partner_id: UUID, wanted: dict[str, str]
) -> dict[str, Any]:
    now = datetime.now(UTC)
    caller = Caller(CallerKind.PARTNER_KEY, partner_id)
    tenant = PartnerTenant(caller, AuditedAction("create_sandbox", by_operator=True))

    async def handle(session: WriteSession) -> Any:
        body: Any = RequestObject(wanted)
        answer = await desk.create_sandbox(Registry(session, tenant, now), blobs, body)
        return lambda: Outcome(200, {}, orjson.dumps(answer.value))

    work = Work(
        tenant=lambda: tenant,
        now=now,
        business_id=None,
        claim=None,
        preview=False,
        handle=handle,
        render_refusal=_unheard,
        contents=blobs,
    )
    outcome, _ = await writing(pool, work)
    made: dict[str, Any] = orjson.loads(outcome.body)
    return made


def _unheard(refusal: Exception) -> Outcome:
    raise refusal  # No idempotency key, so the error is not stored; the command line prints it.


def sweep_sandboxes(older_than: int | None, *, only_look: bool) -> None:
    """Delete sandboxes that were reset, with their files, and print their ids.

    With `older_than` also delete sandboxes created more than so many days ago. With `only_look`
    nothing is deleted.
    """
    loaded = settings.load_stores()
    blobs = Blobs(loaded.documents)
    oldest = datetime.now(UTC) - timedelta(days=older_than or 0)
    made_before = oldest if older_than else datetime.min.replace(tzinfo=UTC)
    with opened(loaded) as database, connect(database.admin_url) as owner:
        found = sandboxes.thrown_away(owner, made_before)
        for business_id in found:
            typer.echo(business_id)
            if not only_look:
                sandboxes.take_away(owner, business_id)
                asyncio.run(_drop_files(blobs, business_id))
    noun, were = ("sandbox", "was") if len(found) == 1 else ("sandboxes", "were")
    typer.echo(f"{len(found)} {noun} {'would be' if only_look else were} deleted.")


async def _drop_files(blobs: Blobs, business_id: UUID) -> None:
    async for keys in blobs.under(str(business_id)):
        for key, _ in keys:
            await blobs.delete(key)
