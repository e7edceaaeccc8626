"""Sandboxes: test businesses, copied from a template, with a clock that can be moved."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from accounting.books.businesses import (
    Sandbox,
    refuse_fixed_clock,
    refuse_moving_back,
    refuse_taken,
)
from accounting.books.commands import OpenSandbox
from handlers.bodies import SandboxCreate, SandboxUpdate
from handlers.platform import business_commands
from handlers.results import Created, ExistingRecord, Reply
from persistence.engine.ids import new_id
from persistence.files.blobs import Blobs, key_in
from persistence.partners.registry import RegisteredBusiness, Registry


async def create_sandbox(
    registry: Registry, files: Blobs, body: SandboxCreate
) -> Created | ExistingRecord:
    """Create a sandbox.

    If the external id is in use, the existing sandbox is returned unchanged.
    """
    command = business_commands.open_sandbox(body)
    existing = await registry.with_external_id(command.external_id)
    if existing is not None:
        refuse_taken(existing.sandbox, existing.external_id, existing.id)
        return ExistingRecord({**serialize(existing), "_meta": found_by("external_id")})
    opened = await open_sandbox(registry, files, command)
    return Created({**serialize(opened), "_meta": found_by(None)})


async def get_sandbox(registry: Registry, sandbox_id: UUID) -> Reply:
    """Return a sandbox."""
    return serialize(await registry.sandbox(sandbox_id))


async def update_sandbox(
    registry: Registry, sandbox_id: UUID, body: SandboxUpdate, clocks_move: bool
) -> Reply:
    """Move the clock of a sandbox forward."""
    refuse_fixed_clock(moves=clocks_move)
    ahead = business_commands.seconds_ahead(body)
    found = await registry.lock_sandbox(sandbox_id)
    refuse_moving_back(found.clock_seconds_ahead, ahead)
    if ahead == found.clock_seconds_ahead:
        return serialize(found)
    moved = replace(found, clock_seconds_ahead=ahead)
    moved = replace(moved, updated_at=registry.now_in(moved))
    registry.save(moved)
    await registry.record_overdue(moved)
    return serialize(moved)


async def reset_sandbox(registry: Registry, files: Blobs, sandbox_id: UUID) -> Reply:
    """Archive a sandbox, and create a new one with its name and external id."""
    found = await registry.lock_sandbox(sandbox_id)
    registry.save(given_up(registry, found))
    command = OpenSandbox(external_id=found.external_id, name=found.name)
    return serialize(await open_sandbox(registry, files, command))


async def open_sandbox(
    registry: Registry, files: Blobs, command: OpenSandbox
) -> RegisteredBusiness:
    """Create a business with a copy of the template's books and files."""
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
        lock_date=None,  # A lock date would refuse postings up to it.
        tokens_valid_from=registry.now.replace(microsecond=0),
        sandbox=Sandbox.OPEN,
    )
    registry.open_copied(opened, books)
    registry.keep_files(opened, {key: each for key, each in contents.items() if each is not None})
    return opened


def given_up(registry: Registry, found: RegisteredBusiness) -> RegisteredBusiness:
    """Return an archived sandbox, whose external id is free for its replacement."""
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


def found_by(field: str | None) -> dict[str, Any]:
    """Return whether a record was created, or the field by which the existing one was found."""
    return {"created": field is None, "matched_on": field}


def serialize(found: RegisteredBusiness) -> dict[str, Any]:
    """Serialize a sandbox."""
    return {
        "id": found.id,
        "external_id": found.external_id,
        "name": found.name,
        "clock_seconds_ahead": found.clock_seconds_ahead,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }
