"""`accounting check-books`: checks of the books of businesses, with a report of every failure."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cli.check_workers import Advance, Proof, alone, together
from cli.databases import ready, run
from cli.named_records import NamedRecords, UnknownRecord
from persistence.engine.pool import Pool
from persistence.integrity.checks import BooksToProve, Check, all_books, keep_run, prove_partners
from server.config import settings

WORTH_A_WORKER = 50  # Businesses; with fewer, another process costs more time than it saves.


@dataclass(slots=True)
class ProofTotals:
    """The results so far; of businesses without failures only the numbers are kept."""

    proven: int = 0
    checked: int = 0
    faulty: list[Proof] = field(default_factory=list)
    partners: list[Check] = field(default_factory=list)  # The failed checks of partners.

    def add(self, proof: Proof) -> None:
        """Count one more business."""
        self.proven += 1
        self.checked += sum(check.checked for check in proof.checks)
        if proof.faults:
            self.faulty.append(proof)

    def add_partners(self, checks: Sequence[Check]) -> None:
        """Count the checks of partners and their keys."""
        self.checked += sum(check.checked for check in checks)
        self.partners += [check for check in checks if not check.ok]

    @property
    def holds(self) -> bool:
        """Return whether no check failed."""
        return not self.faulty and not self.partners


def check_books(
    business_id: UUID | None, partner_id: UUID | None, workers: int | None, *, as_json: bool
) -> int:
    """Check books, print the results and return the exit code: 1 if a check fails.

    Raises UnknownRecord if there is no such business or partner.
    """
    began_at = datetime.now(UTC)
    named = NamedRecords(partner=partner_id, business=business_id)
    with ready(settings.load_stores(), named=named) as database:
        tell_each = (lambda _proof: None) if as_json else tell_faults
        found = prove_all(database.url, business_id, partner_id, workers, tell_each)
        if business_id is None and partner_id is None:
            run(database.url, partial(keep, found, began_at))
    typer.echo(json.dumps(shape(found), indent=2) if as_json else summary(found))
    return 0 if found.holds else 1


def prove_all(
    url: str,
    business_id: UUID | None,
    partner_id: UUID | None,
    workers: int | None,
    tell_each: Callable[[Proof], None],
) -> ProofTotals:
    """Check the books of all businesses of a database, or of the selected ones.

    Calls `tell_each` with each proof. Raises UnknownRecord if none is selected.
    """
    found = ProofTotals()
    businesses = run(
        url, lambda pool: all_books(pool, business_id=business_id, partner_id=partner_id)
    )
    if not businesses and (business_id or partner_id):
        raise UnknownRecord(
            f"The partner {partner_id} has no business"
            f"{f' {business_id}' if business_id else ''}, so there is nothing to check."
        )
    with progress_bar() as bar:
        task = bar.add_task("", total=len(businesses))

        def advance(books: BooksToProve, share: float) -> None:
            bar.update(task, description=books.name, advance=share)

        with _proofs(url, businesses, advance, workers) as proofs:
            for proof in proofs:
                found.add(proof)
                tell_each(proof)
    if business_id is None:
        found.add_partners(run(url, lambda pool: prove_partners(pool, partner_id)))
    return found


async def keep(found: ProofTotals, began_at: datetime, pool: Pool) -> None:
    """Save the result of a check of all books, for monitoring."""
    await keep_run(
        pool,
        began_at=began_at,
        ended_at=datetime.now(UTC),
        businesses=found.proven,
        faulty=len(found.faulty),
        checked=found.checked,
        holds=found.holds,
    )


def _proofs(
    url: str, businesses: Sequence[BooksToProve], advance: Advance, workers: int | None
) -> AbstractContextManager[Iterator[Proof]]:
    fitting = min(os.cpu_count() or 1, 1 + len(businesses) // WORTH_A_WORKER)
    number = fitting if workers is None else workers
    if number == 1:
        return alone(url, businesses, advance)
    return together(url, businesses, advance, number)


def progress_bar() -> Progress:
    """Create a progress bar on standard error, which is disabled unless that is a terminal."""
    console = Console(stderr=True)
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def tell_faults(proof: Proof) -> None:
    """Print the failed checks of one business."""
    if not proof.faults:
        return
    books = proof.books
    typer.echo(f"{books.name} ({books.id}) of {books.partner_name} ({books.partner_id})")
    for check in proof.faults:
        typer.echo(f"  {tell(check)}")


def tell(check: Check) -> str:
    """Return the result of a failed check as text."""
    return f"{check.name}: {check.first_offender} (of {check.checked} checked)"


def summary(found: ProofTotals) -> str:
    """Return the results as text: `The books of 2 businesses hold (310 things checked).`"""
    businesses = "1 business" if found.proven == 1 else f"{found.proven} businesses"
    partners = [f"Partners and keys, {tell(check)}\n" for check in found.partners]
    if found.faulty:
        books = f"The books of {len(found.faulty)} of {businesses} do not hold."
    else:
        books = f"The books of {businesses} hold ({found.checked} things checked)."
    return "".join([*partners, books])


def shape(found: ProofTotals) -> dict[str, Any]:
    """Serialize the results for JSON; only failed checks are listed."""
    return {
        "status": "green" if found.holds else "red",
        "businesses": found.proven,
        "checked": found.checked,
        "faulty": [
            {
                "business_id": str(proof.books.id),
                "business_name": proof.books.name,
                "partner_id": str(proof.books.partner_id),
                "partner_name": proof.books.partner_name,
                "checks": [shape_fault(check) for check in proof.faults],
            }
            for proof in found.faulty
        ],
        "partners": [shape_fault(check) for check in found.partners],
    }


def shape_fault(check: Check) -> dict[str, Any]:
    """Serialize a failed check for JSON."""
    return {
        "name": check.name,
        "checked": check.checked,
        "first_offender": check.first_offender,
    }
