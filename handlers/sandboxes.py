"""Sandboxes: businesses to practise on, copied from a template, with a clock that can be moved."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from accounting.books.commands import OpenSandbox
from accounting.books.sandboxes import Sandbox, refuse_other_than_open, seconds_ahead
from accounting.errors import NotAllowed
from handlers.bodies import SandboxClockMove, SandboxCreate
from handlers.commands import business_commands
from handlers.results import Created, Reply
from handlers.shared.business_shapes import shape
from persistence.engine.identifiers import new_id
from persistence.files.blobs import Blobs, key_in
from persistence.partners.registry import RegisteredBusiness, Registry


async def create_sandbox(registry: Registry, files: Blobs, body: SandboxCreate) -> Reply:
    """Open a sandbox; one with this external id is answered as it is."""
    command = business_commands.open_sandbox(body)
    existing = await registry.with_external_id(command.external_id)
    if existing is not None:
        refuse_other_than_open(existing.id, existing.sandbox)
        return {**shape(existing), "_meta": {"created": False, "matched_on": "external_id"}}
    opened = await open_sandbox(registry, files, command)
    return Created({**shape(opened), "_meta": {"created": True, "matched_on": None}})


async def reset_sandbox(registry: Registry, files: Blobs, business_id: UUID) -> Reply:
    """Give a sandbox up, and open a new one that is known by its names."""
    found = await registry.lock(business_id, against_posting=True)
    refuse_other_than_open(found.id, found.sandbox)
    registry.save(given_up(registry, found))
    command = OpenSandbox(external_id=found.external_id, name=found.name)
    opened = await open_sandbox(registry, files, command)
    return Created({**shape(opened), "_meta": {"created": True, "matched_on": None}})


async def get_sandbox_clock(registry: Registry, business_id: UUID) -> Reply:
    """Tell what time it is in a sandbox."""
    found = await registry.get(business_id)
    refuse_other_than_open(found.id, found.sandbox)
    return show_clock(registry, found)


async def move_sandbox_clock(
    registry: Registry, business_id: UUID, body: SandboxClockMove, clocks_move: bool
) -> Reply:
    """Move the clock of a sandbox forward."""
    if not clocks_move:
        raise NotAllowed(
            "clock_fixed", "This server moves no clocks. One that runs in development does."
        )
    wanted = business_commands.move_clock(body)
    found = await registry.lock(business_id)
    refuse_other_than_open(found.id, found.sandbox)
    ahead = seconds_ahead(registry.now_in(found), wanted, registry.now)
    moved = replace(found, clock_seconds_ahead=ahead)
    if moved != found:
        registry.save(moved)
    return show_clock(registry, moved)


async def open_sandbox(
    registry: Registry, files: Blobs, command: OpenSandbox
) -> RegisteredBusiness:
    """Open a business with the books of the template, and files of its own."""
    template = await registry.template()
    books = await registry.copy(template)
    contents = {key: await files.get(key_in(template.id, key)) for key in books.storage_keys}
    opened = replace(
        template,
        id=new_id(),
        version=1,
        created_at=registry.now,
        updated_at=registry.now,
        external_id=command.external_id,
        name=command.name or template.name,
        activation_at=registry.now,
        tokens_valid_from=registry.now.replace(microsecond=0),
        sandbox=Sandbox.OPEN,
    )
    registry.open_copied(opened, books)
    registry.keep_files(opened, {key: each for key, each in contents.items() if each is not None})
    return opened


def given_up(registry: Registry, found: RegisteredBusiness) -> RegisteredBusiness:
    """Archive a sandbox, and free its external id for the one in its place."""
    now = registry.now_in(found)
    external_id = f"given-up-{found.id}"
    archived_at = found.archived_at or now
    return replace(
        found,
        external_id=external_id,
        archived_at=archived_at,
        updated_at=now,
        sandbox=Sandbox.GIVEN_UP,
    )


def show_clock(registry: Registry, found: RegisteredBusiness) -> dict[str, Any]:
    """Show the clock of a sandbox as the contract describes it."""
    return {"now": registry.now_in(found), "is_moved": found.clock_seconds_ahead != 0}
