"""`python -m tools.bench.growth`: effects of large books, and of many other businesses.

It compares a business of a thousand invoices with one of a million, the same business alone and
among ten thousand, and the first page of 250,000 invoices with page ten thousand. With one client,
p50 is the time of a request. All reads come before all writes: large books get more payments in a
round than small ones, and would then differ in more than size.
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from libraries.embedded.postgres import EmbeddedPostgres
from tools.bench import generator, meters, results, table
from tools.bench.__main__ import POSTGRES, settings
from tools.bench.cases import CREATE, PAGE, PAY, PLAIN, READ, REPORT, TOTAL, Case, Crowd, Step
from tools.bench.results import Run
from tools.bench.rounds import play
from tools.bench.seed import Size, multiply
from tools.bench.stage import Business, Stage, serving
from tools.bench.targets import HttpTarget

CASES = (READ, PLAIN, TOTAL, CREATE, PAY, REPORT)
STEPS = [Step(case, Crowd(1)) for case in (*CASES, PAGE)]
READ_STEPS = [step for step in STEPS if not step.case.writes]
WRITE_STEPS = [step for step in STEPS if step.case.writes]
SMALL = Size(customers=100, invoices=1_000)
TINY = Size(customers=5, invoices=9)  # The size of each other business.
SMALL_NAME, LARGE_NAME, MANY_NAME = "small books", "large books", "small books among many"
FIRST_PAGE, FAR_PAGE = "the first page", "a page far down"
PAIRS = ((SMALL_NAME, LARGE_NAME), (SMALL_NAME, MANY_NAME), (FIRST_PAGE, FAR_PAGE))


@dataclass(frozen=True, slots=True)
class Growth:
    """The sizes of the large data sets."""

    invoices: int  # Of the large business.
    paged: int  # Invoices of the one whose pages are read.
    page: int
    businesses: int

    def __str__(self) -> str:
        return (
            f"Small books are {SMALL.invoices:,} invoices, large ones {self.invoices:,}; many are"
            f" {self.businesses:,} businesses; far down is page {self.page:,} of {self.paged:,}"
            " invoices, by cursor. One client."
        )


@contextmanager
def small(postgres: EmbeddedPostgres, folder: Path) -> Iterator[list[HttpTarget]]:
    """Run a server with one small business."""
    with serving(postgres, "small", folder / "small") as stage:
        business = stage.planted("small", SMALL)
        stage.settle()
        yield [_target(stage, business, folder, SMALL_NAME)]


@contextmanager
def large(postgres: EmbeddedPostgres, folder: Path, growth: Growth) -> Iterator[list[HttpTarget]]:
    """Run a server with a business of many invoices, and one whose pages are read."""
    with serving(postgres, "large", folder / "large") as stage:
        business = stage.planted("large", Size(growth.invoices // 10, growth.invoices))
        paged = stage.planted("paged", Size(growth.paged // 10, growth.paged))
        stage.settle()
        cursor = _cursor(paged, growth.page)
        yield [
            _target(stage, business, folder, LARGE_NAME),
            _target(stage, paged, folder, FIRST_PAGE, (PAGE,)),
            _target(stage, paged, folder, FAR_PAGE, (PAGE,), cursor),
        ]


@contextmanager
def many(postgres: EmbeddedPostgres, folder: Path, growth: Growth) -> Iterator[list[HttpTarget]]:
    """Run a server with the small business among many others."""
    with serving(postgres, "many", folder / "many") as stage:
        business, other = stage.planted("small", SMALL), stage.planted("other", TINY)
        stage.settle()
        multiply(stage.database_url, other.id, growth.businesses - 2)
        stage.analyze()
        yield [_target(stage, business, folder, MANY_NAME)]


def _target(
    stage: Stage,
    business: Business,
    folder: Path,
    name: str,
    cases: tuple[Case, ...] = CASES,
    cursor: str = "",
) -> HttpTarget:
    tenant = replace(business.tenant(), cursor=cursor)
    return HttpTarget(stage.server, [tenant, tenant], folder, cases, name)


def _cursor(business: Business, page: int) -> str:
    """Return the cursor of a page, which the previous page contains."""
    address = f"invoices/?page={page - 1}&page_size=20&count=false"
    with business.client() as api:
        told = api.get(address).raise_for_status().json()
    cursor: str = told["page_info"]["next_cursor"]
    return cursor


def measure(chosen: argparse.Namespace, folder: Path) -> Run:
    """Start all targets, play the rounds and return the results."""
    growth = Growth(chosen.invoices, chosen.paged, chosen.page, chosen.businesses)
    with EmbeddedPostgres(folder / "postgres", POSTGRES) as postgres, ExitStack() as stack:
        targets = stack.enter_context(small(postgres, folder))
        targets += stack.enter_context(large(postgres, folder, growth))
        targets += stack.enter_context(many(postgres, folder, growth))
        meter = meters.of_postgres(postgres.home)
        found = [
            result
            for steps in (READ_STEPS, WRITE_STEPS)
            for result in play(targets, steps, meter, chosen.rounds, chosen.seconds)
        ]
    under = {**settings(chosen.rounds, chosen.seconds), "growth": asdict(growth)}
    return results.made_now(under, found, {})


def told(run: Run) -> str:
    """Return a sentence on the sizes of a run."""
    return str(Growth(**run.settings["growth"]))


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.growth", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of each target in each step")
    parser.add_argument("--invoices", type=int, default=1_000_000, help="of the large business")
    parser.add_argument("--paged", type=int, default=250_000, help="invoices whose pages are read")
    parser.add_argument("--page", type=int, default=10_000, help="that is read")
    parser.add_argument("--businesses", type=int, default=10_000, help="that the small one is of")
    parser.add_argument("--out", type=Path, default=Path("dist/bench"), help="folder for the file")
    return parser.parse_args()


def main() -> None:
    """Measure, save and print."""
    chosen = options()
    generator.find()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        run = measure(chosen, Path(folder).resolve())
    run.save(chosen.out / "growth.json")
    print(table.grown(run, PAIRS), told(run), table.circumstances(run), sep="\n\n")


if __name__ == "__main__":
    main()
