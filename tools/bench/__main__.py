"""`python -m tools.bench`: all cases on this server and on common stacks, with one PostgreSQL."""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import SETTINGS
from tools.bench import generator, meters, results, table
from tools.bench.cases import CASES, CLIENTS, TENANTS, steps
from tools.bench.peers import run
from tools.bench.results import Run
from tools.bench.rounds import play
from tools.bench.seed import UNPAID, Size
from tools.bench.stage import BEFORE, OURS, WORKERS, serving
from tools.bench.targets import HttpTarget, Target

READ = Size(customers=1_000, invoices=10_000)
WRITTEN = Size(customers=50, invoices=3_000, kinds=UNPAID)
# Durable by default; enough connections for all servers together, and memory for their rows.
POSTGRES = {"max_connections": "300", "shared_buffers": "1GB"}


@contextmanager
def ours(
    postgres: EmbeddedPostgres, folder: Path, name: str = OURS, **settings: str
) -> Iterator[Target]:
    """Run this server, with one business for reads and TENANTS others for writes."""
    with serving(postgres, name, folder / name, **settings) as stage:
        businesses = [stage.planted("read", READ)]
        businesses += [stage.planted(f"written-{number}", WRITTEN) for number in range(TENANTS)]
        stage.settle()
        tenants = [each.tenant() for each in businesses]
        yield HttpTarget(stage.server, tenants, folder, CASES, name)


def measure(chosen: argparse.Namespace, folder: Path) -> Run:
    """Start all targets, play the rounds and return the results."""
    wanted = steps(set(chosen.cases), tuple(chosen.clients))
    with EmbeddedPostgres(folder / "postgres", POSTGRES) as postgres, ExitStack() as stack:
        targets = [stack.enter_context(ours(postgres, folder))]
        if chosen.before is not None:
            tree = str(chosen.before.resolve())
            targets.append(stack.enter_context(ours(postgres, folder, BEFORE, PYTHONPATH=tree)))
        peers = run.running(postgres, folder, READ, WRITTEN, chosen.peers)
        targets += stack.enter_context(peers)
        meter = meters.of_postgres(postgres.home)
        found = play(targets, wanted, meter, chosen.rounds, chosen.seconds)
        held = {each.name: each.memory_mb() for each in targets}
        memory = {name: round(each, 1) for name, each in held.items() if each is not None}
    return results.made_now(settings(chosen.rounds, chosen.seconds), found, memory)


def settings(rounds: int, seconds: int) -> Mapping[str, Any]:
    """Return the settings of a run that its figures depend on."""
    durable = {name: SETTINGS[name] for name in ("fsync", "synchronous_commit")}
    told = ", ".join(f"{name} {value}" for name, value in (durable | POSTGRES).items())
    return {
        "rounds": rounds,
        "seconds": seconds,
        "workers": WORKERS,
        "postgres": f"PostgreSQL comes along: {told}",
    }


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3, help="of each target in each step")
    parser.add_argument("--cases", nargs="+", choices=names, default=names)
    parser.add_argument("--clients", nargs="+", type=int, default=CLIENTS)
    parser.add_argument("--peers", nargs="*", choices=run.NAMES, default=run.NAMES)
    parser.add_argument(
        "--before", type=Path, help="another tree of this server, to measure beside it"
    )
    parser.add_argument("--out", type=Path, default=Path("dist/bench"), help="folder for the files")
    return parser.parse_args(words)


def main() -> None:
    """Measure, save, print and draw."""
    chosen = options()
    generator.find()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        run = measure(chosen, Path(folder).resolve())
    run.save(chosen.out / "results.json")
    print(table.whole(run), table.short(run), table.circumstances(run), sep="\n\n")
    from tools.bench import plot

    for file in plot.draw(run, chosen.out):
        print(file, file=sys.stderr)


if __name__ == "__main__":
    main()
