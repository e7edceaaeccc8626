"""A valid request for every operation, made of the contract's own examples.

The examples tell one story with the same ids throughout; here each id stands for a real thing of
a real business. An operation that is added to the contract joins every test that asks for one of
these, as soon as `Story` has a thing for each name in its path.
"""

import json
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx

from tests.contract.document import Node, Operation, bodies, follow, operations
from tests.house import House
from tests.partnership import Business, Partnership

JSON = "application/json"
UNIQUE = ("external_id", "invoice_number", "code")
_numbers = count(1)


@dataclass(frozen=True)
class Request:
    """One request that the contract takes; `body` is None where the operation takes none."""

    operation: Operation
    client: httpx.Client
    path: str
    body: Any

    def send(self, **changes: Any) -> httpx.Response:
        """Send it, with any part replaced."""
        path = changes.pop("path", self.path)
        if self.body is not None and not changes.keys() & {"json", "content", "data", "files"}:
            changes["json"] = self.body
        return self.client.request(self.operation.method.upper(), path, **changes)


@dataclass
class Story:
    """A business in which there is one of everything, by the names of the contract's paths."""

    partner: Partnership
    business: Business
    ids: dict[str, str] = field(default_factory=dict)
    accounts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def begin(cls, partner: Partnership) -> "Story":
        business = partner.business()
        customer = business.customer()
        invoice = business.invoice(customer, 50_000)
        share = {"invoice_id": invoice["id"], "amount_cents": 1_000}
        payment = business.payment(customer, 20_000, status="pending", allocations=[share])
        line = {"quantity": 1, "unit_price": 9_000}
        draft = business.made("invoices/", {"customer_id": customer["id"], "line_items": [line]})
        chart = business.api.get("general-ledger/chart-of-accounts/?page_size=100").json()
        entries = business.api.get("general-ledger/journal-entries/").json()
        story = cls(partner, business)
        story.accounts = {each["code"]: each["id"] for each in chart["results"]}
        story.ids = {
            "business_id": business.id,
            "customer_id": customer["id"],
            "invoice_id": invoice["id"],
            "draft_id": draft["id"],
            "quiet_id": business.customer()["id"],
            "unpaid_id": business.invoice(customer)["id"],
            "payment_id": payment["id"],
            "account_id": story.accounts["6000"],
            "journal_entry_id": entries["results"][0]["id"],
        }
        return story

    def client(self, operation: Operation) -> httpx.Client:
        """Whoever may call it, the partner with its token before all others."""
        schemes = {name for each in operation.node["security"] for name in each}
        if "PartnerToken" in schemes:
            return self.partner.api
        return self.business.api if "BusinessToken" in schemes else self.partner.key

    def id_of(self, operation: Operation, name: str) -> str:
        """What stands for a name in a path: one that the operation can change."""
        if name == "invoice_id" and operation.method != "get":
            name = "unpaid_id" if operation.name.startswith("void_") else "draft_id"
        elif operation.name == "archive_customer" and name == "customer_id":
            name = "quiet_id"
        assert name in self.ids, f"Story in {__file__} needs a thing for {{{name}}}"
        return self.ids[name]

    def path(self, operation: Operation, **others: str) -> str:
        """The operation's path, with other ids where some are given."""
        names = [each["name"] for each in operation.parameters if each["in"] == "path"]
        chosen = {name: self.id_of(operation, name) for name in names}
        return operation.path.format(**{**chosen, **others})

    def request(self, operation: Operation, **others: str) -> Request:
        """A valid request."""
        body = self.body(operation) if JSON in bodies(operation) else None
        return Request(operation, self.client(operation), self.path(operation, **others), body)

    def body(self, operation: Operation) -> Any:
        """The first example of the operation's JSON body, about the things of this story."""
        [example, *_] = bodies(operation)[JSON]["examples"].values()
        return self.retold(deepcopy(follow(example)["value"]))

    def retold(self, value: Any) -> Any:
        """Replace the story's ids by real ones, codes of accounts by ids, and what must be new."""
        text = json.dumps(value)
        for name, told in told_ids().items():
            text = text.replace(told, self.ids.get(name, told))
        text = text.replace("0197f0c2-1b7e-7c11-9a53-5f0e6b1d2a01", str(self.partner.partner_id))
        retold: Any = json.loads(text)
        self._retell(retold)
        return retold

    def _retell(self, node: Any) -> None:
        for part in node.values() if isinstance(node, dict) else node:
            if isinstance(part, dict | list):
                self._retell(part)
        if isinstance(node, dict):
            if node.get("type") == "AccountCode":
                account_id = self.accounts[node.pop("code")]
                node.update({"type": "AccountId", "id": account_id})
            for name in UNIQUE:
                if isinstance(node.get(name), str):
                    node[name] = f"{node[name][:10]}-{next(_numbers)}"


def told_ids() -> dict[str, str]:
    """The ids of the contract's story by the names that paths have for them."""
    return {
        parameter["name"]: parameter["example"]
        for operation in operations()
        for parameter in operation.parameters
        if parameter["in"] == "path"
    }


def stored(house: House) -> Node:
    """How many rows each table has, and how often they were changed."""
    tables = house.query(
        "SELECT c.relname, bool_or(a.attname = 'version') FROM pg_class c"
        " JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY 1 ORDER BY 1"
    )
    counted = " UNION ALL ".join(
        f"SELECT '{table}', count(*), {'coalesce(sum(version), 0)' if versioned else '0'}"
        f" FROM {table}"
        for table, versioned in tables
    )
    return {table: (rows, versions) for table, rows, versions in house.query(counted)}
