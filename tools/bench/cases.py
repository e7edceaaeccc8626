"""The cases, the numbers of clients and of businesses, and the steps that combine them."""

from dataclasses import dataclass
from typing import Final

TENANTS: Final = 15  # Businesses over which writes are spread.
CLIENTS: Final = (1, 16, 64)


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of work that an API client requests."""

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
    """A number of clients in a number of businesses."""

    clients: int
    tenants: int = 1

    def __str__(self) -> str:
        clients = "1 client" if self.clients == 1 else f"{self.clients} clients"
        return clients if self.tenants == 1 else f"{clients}, {self.tenants} businesses"


@dataclass(frozen=True, slots=True)
class Step:
    """A case done by a crowd; each target does each step in each round."""

    case: Case
    crowd: Crowd

    def __str__(self) -> str:
        return f"{self.case.title}, {self.crowd}"


def steps(names: set[str], clients: tuple[int, ...]) -> list[Step]:
    """Return the steps of the named cases; only writes are also spread over several businesses.

    A read of one business never waits for another, so spreading reads would show nothing.
    """
    return [
        Step(case, Crowd(each, tenants))
        for case in CASES
        if case.name in names
        for tenants in ((1, TENANTS) if case.writes else (1,))
        for each in clients
    ]
