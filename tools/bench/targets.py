"""The targets that are measured: servers over HTTP, and the database without a server."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tools.bench import generator, pgbench, requests
from tools.bench.cases import Case, Crowd, Step
from tools.bench.generator import Load
from tools.bench.requests import Tenant
from tools.bench.servers import Server


class Target(Protocol):
    """An implementation of some of the cases."""

    name: str

    def does(self, case: Case) -> bool:
        """Return whether it can do the case."""

    def drive(self, step: Step, seconds: int) -> Load:
        """Run a step for some seconds."""

    def seconds_used(self) -> float:
        """Return the processor seconds of its own processes, without PostgreSQL's."""

    def memory_mb(self) -> float | None:
        """Return the memory of its own processes in MB."""


@dataclass(slots=True)
class HttpTarget:
    """A server; its first tenant is for reads, the others for writes."""

    server: Server
    tenants: Sequence[Tenant]
    folder: Path
    cases: Sequence[Case]
    name: str
    sent: dict[Path, int] = field(default_factory=dict)

    def does(self, case: Case) -> bool:
        return case in self.cases

    def drive(self, step: Step, seconds: int) -> Load:
        file = self._file(step.case, step.crowd)
        first = self.sent.get(file, 0)
        load = generator.drive(
            self.server.port, file, first=first, clients=step.crowd.clients, seconds=seconds
        )
        # The next round continues where this one stopped, so that recent payments are not repeated.
        self.sent[file] = first + load.answers + step.crowd.clients
        return load

    def seconds_used(self) -> float:
        return self.server.meter.seconds()

    def memory_mb(self) -> float:
        return self.server.meter.memory_mb()

    def _file(self, case: Case, crowd: Crowd) -> Path:
        file = self.folder / f"{self.name}-{case.name}-{crowd.tenants}.requests"
        if not file.exists():
            first = 1 if case.writes else 0
            tenants = self.tenants[first : first + crowd.tenants]
            generator.save(requests.write(case, tenants), file)
        return file


@dataclass(slots=True)
class PgbenchTarget:
    """A run of pgbench on the peers' database."""

    program: Path
    url: str
    folder: Path
    cases: Sequence[Case]
    sizes: dict[
        bool, tuple[int, int]
    ]  # Customers and invoices of a business, by whether it is for writes.
    name: str = "pgbench"
    as_one: bool = False

    def does(self, case: Case) -> bool:
        return case in self.cases

    def drive(self, step: Step, seconds: int) -> Load:
        case, crowd = step.case, step.crowd
        file = self.folder / f"{self.name}-{case.name}-{crowd.tenants}.sql"
        first = 2 if case.writes else 1
        tenants = range(first, first + crowd.tenants)
        text = pgbench.script(case, tenants, *self.sizes[case.writes], as_one=self.as_one)
        file.write_text(text, encoding="utf-8")
        return pgbench.drive(self.program, self.url, file, crowd, seconds)

    def seconds_used(self) -> float:
        return 0.0

    def memory_mb(self) -> None:
        return None
