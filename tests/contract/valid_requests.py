"""A valid request for every operation, from the examples of the contract.

The examples share their IDs; each is replaced by the ID of a record of a real business. A new
operation is in all tests of these requests once `story_things` has each name of its path.
"""

import json
import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, cached_property
from itertools import count
from typing import Any

import httpx

from tests.contract import story_things
from tests.contract.document import Node, Operation, bodies, follow, operations
from tests.contract.external_names import PATHS, by_external_id
from tests.partner import Business, Partner

JSON = "application/json"
MULTIPART = "multipart/form-data"
URLENCODED = "application/x-www-form-urlencoded"
UNIQUE = (
    *("external_id", "code", "invoice_number", "credit_note_number"),
    *("bill_number", "vendor_bill_number", "vendor_credit_number"),
)
SENDING = {"json", "content", "data", "files"}
# The name of a record in the state that an operation needs, in place of that in its path.
OF_THEIR_OWN = {
    ("list_account_entries", "account_id"): "busy_account_id",
    ("archive_account", "account_id"): "quiet_account_id",
    ("archive_customer", "customer_id"): "quiet_id",
    ("void_invoice", "invoice_id"): "unpaid_id",
    ("write_off_invoice", "invoice_id"): "unpaid_id",
    ("reverse_write_off", "invoice_id"): "written_off_id",
    ("cancel_invoice_refund", "refund_id"): "unpaid_refund_id",
    ("archive_vendor", "vendor_id"): "quiet_vendor_id",
    ("update_vendor", "vendor_id"): "quiet_vendor_id",
    ("void_bill", "bill_id"): "unpaid_bill_id",
    ("write_off_bill", "bill_id"): "unpaid_bill_id",
    ("reverse_bill_write_off", "bill_id"): "written_off_bill_id",
    ("reverse_bill_write_off", "write_off_id"): "bill_write_off_id",
    ("replace_journal_entry", "journal_entry_id"): "draft_entry_id",
    ("approve_journal_entry", "journal_entry_id"): "draft_entry_id",
    ("reject_journal_entry", "journal_entry_id"): "draft_entry_id",
    ("reverse_journal_entry", "journal_entry_id"): "manual_entry_id",
    ("list_tax_return_entries", "tax_return_id"): "busy_return_id",
    ("supersede_tax_return", "tax_return_id"): "filed_return_id",
    ("reverse_opening_balance", "opening_balance_id"): "spare_opening_id",
    ("reverse_revaluation", "revaluation_id"): "spare_revaluation_id",
    ("delete_payout", "payout_id"): "spare_payout_id",
    ("unmatch_bank_transaction", "bank_transaction_id"): "linked_line_id",
    ("categorize_bank_transaction", "bank_transaction_id"): "plain_line_id",
    ("uncategorize_bank_transaction", "bank_transaction_id"): "categorized_line_id",
    ("delete_bank_rule", "bank_rule_id"): "spare_bank_rule_id",
    ("delete_webhook_endpoint", "webhook_endpoint_id"): "spare_webhook_endpoint_id",
    **{
        (f"{verb}_bank_reconciliation", "bank_account_id"): "other_bank_account_id"
        for verb in ("create", "get", "reopen")
    },
    ("list_bank_reconciliations", "bank_account_id"): "other_bank_account_id",
    ("get_vendor_refund", "refund_id"): "vendor_refund_id",
    ("update_vendor_refund", "refund_id"): "vendor_refund_id",
}
# The same for every other operation that changes such a record.
CHANGED = {"invoice_id": "draft_id", "bill_id": "draft_bill_id"}
# A payment in a body is one that can be refunded.
NAMED_IN_BODIES = {"payment_id": "unapplied_id", "bill_payment_id": "unapplied_bill_payment_id"}
# IDs of examples that are in bodies and in no path.
NAMED_IN_NO_PATH = {
    "0197f0d6-8bfc-7b0b-8fa1-0b1c2d3e4f44": "bank_payment_id",
    "0197f0d6-8bfc-7b0b-8fa1-0b1c2d3e4f48": "returned_payment_id",
    "0197f0d6-8bfd-7d0c-8fb2-0b1c2d3e4f43": "link_id",
    "0197f0c8-62f5-7d20-9e48-2b3c4d5e6f01": "draft_line_id",
    "0197f0cf-1a87-7bd4-9dea-2f3a4b5c6d2a": "draft_bill_line_id",
    "0197f0cc-7a54-7e90-9fa6-8b9c0d1e2f26": "credit_line_id",
    "0197f0d1-3ca9-7ea7-8abd-5c6d7e8f9a2d": "vendor_credit_line_id",
    "0197f0d9-be2f-7e3e-8fd4-3e4f5a6b7c81": "other_bank_account_id",
    "0197f0d5-7ae2-7d1c-8f32-0b1c2d3e4f52": "card_payment_id",
    "0197f0d5-7ae3-7e2d-9a43-1c2d3e4f5a53": "card_refund_payment_id",
}
# Records that examples name by external id, with the party that they belong to.
NAMED_BY_EXTERNAL_ID = {
    "invoice_external_id": ("invoice_id", "customer_id"),
    "bill_external_id": ("bill_id", "vendor_id"),
}
_numbers = count(1)


@dataclass(frozen=True)
class Request:
    """A valid request; `body` is None where the operation has none."""

    operation: Operation
    client: httpx.Client
    path: str
    body: Any
    content_type: str = JSON

    def send(self, **changes: Any) -> httpx.Response:
        """Send it, with any part replaced."""
        path = changes.pop("path", self.path)
        if self.body is not None and not changes.keys() & SENDING:
            changes |= self.content()
        return self.client.request(self.operation.method.upper(), path, **changes)

    def content(self) -> dict[str, Any]:
        """Return the body as arguments for httpx."""
        if self.content_type == JSON:
            return {"json": self.body}
        if self.content_type == MULTIPART:
            return {"files": parts(self.operation, self.body)}
        return {"data": {name: text_of(value) for name, value in self.body.items()}}


@dataclass
class Story:
    """A business with a record of each kind, by the names of the contract's paths.

    Each record is created at its first use. `whole` creates them all, for tests that compare all
    stored records.
    """

    partner: Partner
    business: Business
    ids: dict[str, str] = field(default_factory=dict)
    is_whole: bool = False

    @classmethod
    def begin(cls, partner: Partner) -> "Story":
        """Create a story whose records are created at their first use."""
        business = partner.business()
        return cls(partner, business, {"business_id": business.id})

    @classmethod
    def whole(cls, partner: Partner) -> "Story":
        """Create a story with every record, to which nothing is added."""
        story = cls.begin(partner)
        for name in story_things.MAKERS:
            story.thing(name)
        assert story.accounts
        assert story.business.api
        story.is_whole = True
        return story

    @cached_property
    def accounts(self) -> dict[str, str]:
        """The IDs of the chart's accounts by their codes."""
        chart = self.business.api.get("general-ledger/chart-of-accounts/?page_size=100").json()
        return {each["code"]: each["id"] for each in chart["results"]}

    def thing(self, name: str) -> str:
        """Return the ID of a record, which is created if it does not exist."""
        if name not in self.ids:
            assert name in story_things.MAKERS, f"{story_things.__file__} has no {{{name}}}"
            self.ids[name] = str(story_things.MAKERS[name](self)["id"])
        return self.ids[name]

    @cached_property
    def by_business(self) -> httpx.Client:
        """A client with the token of the business, for the whole addresses of the contract."""
        token = {"Authorization": self.business.api.headers["Authorization"]}
        return self.partner.client(self.partner.url, headers=token)

    def close(self) -> None:
        """Close the connections of this story."""
        self.by_business.close()
        self.business.api.close()

    def client(self, operation: Operation) -> httpx.Client:
        """Return a client that may call the operation, preferring the partner's token."""
        schemes = {name for each in operation.node["security"] for name in each}
        if "PartnerToken" in schemes:
            return self.partner.api
        return self.by_business if "BusinessToken" in schemes else self.partner.key

    def id_of(self, operation: Operation, name: str) -> str:
        """Return the ID for a name in a path: of a record that the operation can change."""
        if (operation.name, name) in OF_THEIR_OWN:
            return self.thing(OF_THEIR_OWN[operation.name, name])
        return self.thing(name if operation.method == "get" else CHANGED.get(name, name))

    def path(self, operation: Operation, **others: str) -> str:
        """Return the operation's path, with other IDs where they are given."""
        names = [each["name"] for each in operation.parameters if each["in"] == "path"]
        chosen = {name: self.id_of(operation, name) for name in names if name not in others}
        return operation.path.format(**{**chosen, **others})

    def request(self, operation: Operation, **others: str) -> Request:
        """Return a valid request with the first example of the JSON body, or else of the form."""
        client, path = self.client(operation), self.path(operation, **others)
        if not bodies(operation):
            return Request(operation, client, path, None)
        content_type = JSON if JSON in bodies(operation) else next(iter(bodies(operation)))
        body = self.body(operation, content_type)
        return Request(operation, client, path, body, content_type)

    def body(self, operation: Operation, content_type: str = JSON, example: str = "") -> Any:
        """Return an example of a body, by default the first, with the IDs of this story."""
        if operation.name == "create_revaluation" and not self.is_whole:
            story_things.owe_dollars(self)
        told = bodies(operation)[content_type]["examples"]
        return self.retold(deepcopy(follow(told[example or next(iter(told))])["value"]))

    def retold(self, value: Any) -> Any:
        """Replace the IDs of examples, codes of accounts, and values that must be new."""
        text = json.dumps(value)
        for told, name in names_by_id().items():
            if told in text:
                text = text.replace(told, self.thing(NAMED_IN_BODIES.get(name, name)))
        text = text.replace("0197f0c2-1b7e-7c11-9a53-5f0e6b1d2a01", str(self.partner.partner_id))
        retold: Any = json.loads(text)
        self._retell(retold)
        for name, things in NAMED_BY_EXTERNAL_ID.items():
            if f'"{name}"' in text:
                self._rename(retold, things)
        return retold

    def _rename(self, node: Any, things: Iterable[str]) -> None:
        """Replace the external ids of examples by those of the records of this story."""
        for part in node.values() if isinstance(node, dict) else node:
            if isinstance(part, dict | list):
                self._rename(part, things)
        for thing in things if isinstance(node, dict) else ():
            if by_external_id(thing) in node:
                node[by_external_id(thing)] = self.external_id(thing, self.thing(thing))

    def external_id(self, name: str, id_: str) -> str:
        """Return the external id of a record that a field names; it gets one if it has none."""
        api = self.business.api
        if name == "refund_payment_ids":
            refunds = api.get("invoices/refunds/").json()["results"]
            known = {each["id"]: each for refund in refunds for each in refund["refund_payments"]}
            return str(known[id_]["external_id"])
        path = f"{PATHS[name]}{id_}/"
        shown = api.get(path).json()
        external_id = shown.get("payment", shown)["external_id"]
        if external_id is None:
            external_id = f"named {id_}"
            answer = api.patch(path, json={"external_id": external_id})
            assert answer.is_success, answer.text
        return str(external_id)

    def _retell(self, node: Any) -> None:
        for part in node.values() if isinstance(node, dict) else node:
            if isinstance(part, dict | list):
                self._retell(part)
        if isinstance(node, dict):
            if node.get("type") == "AccountCode":
                account_id = self.accounts[node.pop("code")]
                node.update({"type": "AccountId", "id": account_id})
            if {"date", "accounts"} <= node.keys():  # A day has at most one opening.
                node["date"] = str(date(2026, 1, 1) + timedelta(days=next(_numbers)))
            for name in UNIQUE:
                if isinstance(node.get(name), str):
                    node[name] = f"{node[name][:10]}-{next(_numbers)}"


@cache
def names_by_id() -> dict[str, str]:
    """Return the names of records by their IDs in the examples."""
    told: dict[str, str] = {**NAMED_IN_NO_PATH}
    for operation in operations():
        for parameter in operation.parameters:
            if parameter["in"] == "path":
                named = str(parameter["name"])
                # The operation that reads a record comes first, and uses its own name.
                name = OF_THEIR_OWN.get((operation.name, named), named)
                told.setdefault(parameter["example"], name)
    return told


def file_fields(operation: Operation) -> set[str]:
    """Return the fields of a multipart body that are files."""
    schema = follow(bodies(operation).get(MULTIPART, {}).get("schema", {}))
    properties = schema.get("properties", {})
    return {name for name, node in properties.items() if follow(node).get("format") == "binary"}


def parts(operation: Operation, body: Node) -> list[tuple[str, Any]]:
    """Return a multipart body for httpx: files with a name, other fields as text."""
    files = file_fields(operation)
    return [
        (name, ("paper.pdf", value.encode()) if name in files else (None, text_of(value)))
        for name, value in body.items()
    ]


def text_of(value: Any) -> str:
    """Return a value as a field of a form."""
    return value if isinstance(value, str) else json.dumps(value)


def lasting(text: str) -> str:
    """Return an answer without the links to files, which are signed for each answer."""
    return re.sub(r"\?expires=\d+&signature=[\w-]+", "", text)
