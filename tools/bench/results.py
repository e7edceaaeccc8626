"""The results of a run, saved as JSON: every round, and the medians of each step."""

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import psutil

PACKAGES = [
    "connexion",
    "django",
    "djangorestframework",
    "fastapi",
    "gunicorn",
    "orjson",
    "psycopg",
    "pydantic",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "uvloop",
]


@dataclass(frozen=True, slots=True)
class Round:
    """The figures of one target in one round of one step; processor times are per operation."""

    rate: float
    p50_ms: float
    p99_ms: float
    server_ms: float
    postgres_ms: float
    errors: int

    @property
    def cpu_ms(self) -> float:
        """The processor time of server and PostgreSQL together, in ms."""
        return self.server_ms + self.postgres_ms


MEDIANS = ("rate", "p50_ms", "p99_ms", "server_ms", "postgres_ms", "cpu_ms")


@dataclass(frozen=True, slots=True)
class Result:
    """The rounds of one target in one step."""

    case: str
    title: str
    clients: int
    tenants: int
    target: str
    rounds: tuple[Round, ...]

    def middle(self, name: str) -> float:
        """Return the median over all rounds of a figure."""
        return float(median(getattr(each, name) for each in self.rounds))

    def times(self, other: "Result", name: str) -> float | None:
        """Return the ratio of a figure to another result's: the median of the ratios per round.

        In one round both have similar conditions; from round to round the machine can be half as
        fast. None if the other figure is always zero.
        """
        pairs = zip(self.rounds, other.rounds, strict=True)
        figures = [(getattr(each, name), getattr(beside, name)) for each, beside in pairs]
        ratios = [figure / measure for figure, measure in figures if measure]
        return float(median(ratios)) if ratios else None

    @property
    def errors(self) -> int:
        """The number of errors in all rounds."""
        return sum(each.errors for each in self.rounds)

    @property
    def step(self) -> tuple[str, int, int]:
        return self.case, self.clients, self.tenants


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one run, with its machine, versions and settings."""

    measured_at: str
    commit: str
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    settings: Mapping[str, Any]
    results: tuple[Result, ...]
    memory_mb: Mapping[str, float] = field(default_factory=dict)

    def find(self, step: tuple[str, int, int], target: str) -> Result | None:
        """Return the result of one target in one step, or None."""
        for each in self.results:
            if each.step == step and each.target == target:
                return each
        return None

    def steps(self) -> Iterator[tuple[str, int, int]]:
        """Yield the steps in the order in which they were made."""
        yield from dict.fromkeys(each.step for each in self.results)

    def targets(self) -> list[str]:
        """Return the names of the targets, in the order of their first step."""
        return list(dict.fromkeys(each.target for each in self.results))

    def save(self, file: Path) -> None:
        """Save the run, one result per line; the medians are added for human readers."""
        told = asdict(self)
        for row, result in zip(told["results"], self.results, strict=True):
            row["median"] = {name: round(result.middle(name), 3) for name in MEDIANS}
        rows = ",\n".join(map(json.dumps, told.pop("results")))
        head = json.dumps(told, indent=1).removesuffix("\n}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'{head},\n "results": [\n{rows}\n ]\n}}\n', encoding="utf-8")


def load(file: Path) -> Run:
    """Load a run that `save` wrote."""
    told = json.loads(file.read_text(encoding="utf-8"))
    results = []
    for row in told.pop("results"):
        row.pop("median")
        rounds = tuple(Round(**each) for each in row.pop("rounds"))
        results.append(Result(**row, rounds=rounds))
    return Run(**told, results=tuple(results))


def made_now(
    settings: Mapping[str, Any], results: Sequence[Result], memory_mb: Mapping[str, float]
) -> Run:
    """Return a run of results, with the current time, commit, machine and versions."""
    return Run(
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=_printed("git", "describe", "--always", "--dirty"),
        machine={
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_gb": round(psutil.virtual_memory().total / 1e9),
            "system": platform.platform(),
        },
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        settings=settings,
        results=tuple(results),
        memory_mb=memory_mb,
    )


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _printed(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
