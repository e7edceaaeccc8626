"""What is measured: the cases, by how many clients, in how many businesses."""

from dataclasses import dataclass
from typing import Final

TENANTS: Final = 15  # Businesses that the work of the spread cases goes to.
CLIENTS: Final = (1, 16, 64)


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of work that an API client gets done."""

    name: str
    title: str
    writes: bool = False


READ = Case("read", "read a customer")
LIST = Case("list", "list 20 of 10,000 invoices by status, with total")
CREATE = Case("create", "create and send an invoice", writes=True)
PAY = Case("pay", "payment with an allocation", writes=True)
REPORT = Case("report", "balance of every account")
PLAIN = Case("plain", "list 20 invoices by status, count=false")
TOTAL = Case("total", "list 20 invoices by status, with total")
PAGE = Case("page", "a page of 20 invoices")
CASES: Final = (READ, LIST, CREATE, PAY, REPORT)


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many clients work in how many businesses."""

    clients: int
    tenants: int = 1

    def __str__(self) -> str:
        clients = "1 client" if self.clients == 1 else f"{self.clients} clients"
        return clients if self.tenants == 1 else f"{clients}, {self.tenants} businesses"


@dataclass(frozen=True, slots=True)
class Step:
    """A case done by a crowd: what each target does in each round."""

    case: Case
    crowd: Crowd

    def __str__(self) -> str:
        return f"{self.case.title}, {self.crowd}"


def steps(names: set[str], clients: tuple[int, ...]) -> list[Step]:
    """Every crowd of the named cases; only what is written is also spread over businesses.

    Of reads each business has its own rows either way: nothing waits for anything.
    """
    return [
        Step(case, Crowd(each, tenants))
        for case in CASES
        if case.name in names
        for tenants in ((1, TENANTS) if case.writes else (1,))
        for each in clients
    ]
