"""`accounting check-books`: every business's books proven, and every fault told."""

import asyncio
from dataclasses import dataclass

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cli.databases import ready
from persistence.pool import make_pool
from persistence.proof.integrity import BooksToProve, Check, all_books, prove
from server import settings


@dataclass(frozen=True, slots=True)
class Proof:
    """One business and the checks of its books."""

    books: BooksToProve
    checks: list[Check]

    @property
    def faults(self) -> list[Check]:
        """The checks that do not hold."""
        return [check for check in self.checks if not check.ok]


def prove_all() -> int:
    """Prove the books of every business; print what was found and return the exit code."""
    with ready(settings.load_stores()) as database:
        proofs = asyncio.run(prove_each(database.url))
    for proof in proofs:
        tell_faults(proof)
    faulty = sum(bool(proof.faults) for proof in proofs)
    checked = sum(check.checked for proof in proofs for check in proof.checks)
    businesses = "1 business" if len(proofs) == 1 else f"{len(proofs)} businesses"
    if faulty:
        typer.echo(f"The books of {faulty} of {businesses} do not hold.")
        return 1
    typer.echo(f"The books of {businesses} hold ({checked} things checked).")
    return 0


async def prove_each(url: str) -> list[Proof]:
    """Prove one business after the other, with a bar that says which."""
    async with make_pool(url, size=1) as pool:
        businesses = await all_books(pool)
        with progress_bar() as bar:
            task = bar.add_task("", total=len(businesses))
            proofs = []
            for each in businesses:
                bar.update(task, description=each.name)
                checks = await prove(pool, each, lambda share: bar.advance(task, share))
                proofs.append(Proof(each, checks))
    return proofs


def progress_bar() -> Progress:
    """Show how far a long work is, on standard error and only to people."""
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
    """Print what does not hold in one business's books."""
    if not proof.faults:
        return
    books = proof.books
    typer.echo(f"{books.name} ({books.id}) of {books.partner_name} ({books.partner_id})")
    for check in proof.faults:
        typer.echo(f"  {check.name}: {check.first_offender} (of {check.checked} checked)")
