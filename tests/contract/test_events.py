"""The events of every operation that writes: the types that `x-events` lists, and `changed`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from tests.contract.document import Operation, bodies, document, operations
from tests.contract.test_audited import CHANGES
from tests.contract.valid_requests import JSON, Story
from tests.in_turn import only
from tests.partner import Partner

Record = dict[str, Any]
Key = tuple[str, str]

# Fields that other records decide, which have events of their own.
OF_OTHERS = {"updated_at", "warnings", "document"}
OF_OTHERS_BY_TYPE: Mapping[str, set[str]] = {
    "customer": {"outstanding_balance", "outstanding_by_currency", "documents"},
    "vendor": {"outstanding_balance", "outstanding_by_currency", "documents"},
    "account": {
        *("current_balance", "current_balance_formatted", "rollup_balance", "debit_balance"),
        "currency_balance",
        *("credit_balance", "total_debits", "total_credits", "last_entry_date", "sub_accounts"),
        *("last_entry_reference", "has_children"),
    },
    "bank_account": {"account", "is_active"},
    "bank_reconciliation": {
        *("opening_balance_cents", "ledger_balance_cents", "difference_cents", "unexplained_cents"),
        *("lines_without_money_cents", "lines_without_money", "lines_without_money_count"),
        *("money_without_lines_cents", "money_without_lines", "money_without_lines_count"),
    },
    "invoice_payment": {"refund_allocations"},
    "bill_payment": {"refund_allocations"},
    "invoice_refund": {"refund_payments"},
    "vendor_refund": {"vendor_refund_payments"},
    "tax_return": {
        *("boxes", "codes", "late", "transition", "uncoded", "tax_due_cents"),
        *("withheld_by_customers_cents", "withheld_from_vendors_cents"),
        *("unapplied_cents", "unapplied_paid_cents"),
    },
    "opening_balance": {"invoices", "bills", "customer_credits", "vendor_credits", "prepayments"},
}
# The same of the items of a list.
OF_OTHER_ITEMS = {
    *("status", "outstanding_amount_cents", "bill_status", "bill_outstanding_balance_cents"),
    "invoice_outstanding_balance_cents",
}
# A write-off has the address of its document; files never change.
WITHOUT_OWN_ANSWER = {"write_off", "bill_write_off", "document"}

# Why a type that an operation may make does not come in the story of its example.
_SETTLED = "the amounts decide which status the document reaches"
_PAID = "the status in the body, or a bank line, decides which status the money reaches"
REASONS = {
    "account.unarchived": "something is posted to an archived account",
    "account.created": "the business has no account of that kind yet",
    "account.updated": "the bank account has an account of the chart with other data",
    "customer.created": "the body names an unknown customer by an external id",
    "vendor.created": "the body names an unknown vendor by an external id",
    "document.created": "the body comes with a file",
    "journal_entry.posted": "the books show the change",
    "journal_entry.reversed": "an entry that was posted is no longer right",
    "journal_entry.created": "the entry is a draft",
    **{
        f"{kind}.{word}": _SETTLED
        for kind in ("invoice", "bill")
        for word in (
            *("updated", "partially_paid", "paid", "partially_written_off", "written_off"),
            *("refunded", "reopened", "sent", "received", "voided", "created"),
        )
    },
    **{
        f"{kind}.{word}": _PAID
        for kind in ("invoice_payment", "bill_payment", "vendor_refund_payment", "payout")
        for word in (
            *("created", "updated", "pending", "processing", "completed", "failed", "cancelled"),
            *("refunded", "paid", "reconciled"),
        )
    },
    **{
        f"{kind}.{word}": "the target of the refund decides, or what is left of the credit"
        for kind in ("customer_credit", "vendor_credit")
        for word in (
            *("created", "updated", "sent", "received", "partially_applied", "applied", "voided"),
        )
    },
    **{
        f"{kind}.{word}": "the payments of the refund decide, or a bank line"
        for kind in ("invoice_refund", "invoice_refund_payment", "vendor_refund")
        for word in (
            *("created", "updated", "processing", "paid", "cancelled", "allocated", "completed"),
            "partially_allocated",
        )
    },
    "write_off.updated": "a line of an invoice that is written off moves to another account",
    "bill_write_off.updated": "a line of a bill that is written off moves to another account",
    "bank_transaction.updated": "a closed statement did not have the line",
    "bank_transaction.unmatched": "money that never moved is cancelled, and was linked",
    "bank_transaction.deleted": "a file no longer has the line",
    "bank_transfer.created": "the target is another bank account",
    "bank_transfer.updated": "the target is the line of another bank account",
    "bank_transfer.deleted": "the link is that of a transfer",
    "bank_reconciliation.updated": "the statement was compared before",
    "bank_reconciliation.closed": "the statement agrees with the books",
    "bank_reconciliation.deleted": "a later statement is open",
    "business.updated": "the body changes another field",
    "business.period_locked": "the lock date moves forward",
    "business.period_unlocked": "the lock date moves back",
    "tax_code.updated": "another code was the default",
    "tax_code.archived": "`is_active` is false",
    "tax_code.unarchived": "`is_active` is true again",
    "account.archived": "`is_active` is false",
    "invoice.overdue": "the clock of a sandbox passes the due day of an invoice",
    "bill.overdue": "the clock of a sandbox passes the due day of a bill",
    "tax_return.superseded": "the return corrects another one",
}
# No operation makes this: a server of the previous release does.
BY_NO_OPERATION = {"tax_return.updated"}


TYPES: list[str] = document()["components"]["schemas"]["EventType"]["enum"]


def listed(operation: Operation) -> set[str]:
    """Return the types that the contract lists at an operation."""
    return set(operation.node.get("x-events", ()))


@dataclass
class Observation:
    """The events of a call, and the records before and after it."""

    operation: Operation
    events: list[Record]
    before: dict[Key, Record] = field(default_factory=dict)
    after: dict[Key, Record] = field(default_factory=dict)

    @property
    def types(self) -> set[str]:
        """The types of the events."""
        return {each["type"] for each in self.events}

    def of(self, key: Key) -> list[Record]:
        """Return the events of a record."""
        return [each for each in self.events if key_of(each) == key]

    def untold(self) -> Iterator[str]:
        """Yield each field of a record that changed and is in no event of the record."""
        for key, was in self.before.items():
            now = self.after.get(key)
            told = {name for each in self.of(key) for name in each["changed"]}
            for name in differing(key[0], was, now) if now else ():
                if name not in told:
                    yield f"{self.operation.name}: {key[0]}.{name}"

    def vague(self) -> Iterator[str]:
        """Yield each event of a changed record that names a field which did not change."""
        for each in self.events:
            key = key_of(each)
            if key not in self.before or key not in self.after or len(self.of(key)) > 1:
                continue
            differ = differing(key[0], self.before[key], self.after[key])
            if each["change"] == "updated" and each["counts"] is None:
                for name in set(each["changed"]) - set(differ):
                    yield f"{self.operation.name}: {each['type']} names {name}"


def key_of(event: Record) -> Key:
    """Return the kind and the id of the record of an event."""
    return event["object"]["type"], event["object"]["id"]


def differing(kind: str, was: Record, now: Record) -> list[str]:
    """Return the fields of a record that differ, without those that other records decide."""
    others = OF_OTHERS | OF_OTHERS_BY_TYPE.get(kind, set())
    names = (was.keys() | now.keys()) - others
    return sorted(name for name in names if own(was.get(name)) != own(now.get(name)))


def own(value: Any) -> Any:
    """Return a value without the fields of its items that other records decide."""
    if not isinstance(value, list):
        return value
    return [
        {name: part for name, part in each.items() if name not in OF_OTHER_ITEMS}
        if isinstance(each, dict)
        else each
        for each in value
    ]


def observe(partner: Partner, operation: Operation, example: str) -> Observation:
    """Call an operation with an example; return its events and the records around it."""
    story = Story.begin(partner)
    request = story.request(operation)
    if example:
        request = replace(request, body=story.body(operation, JSON, example), content_type=JSON)
    if operation.name.startswith("unarchive_"):
        request.send(path=request.path.replace("unarchive", "archive"))
    earlier, head = feed(partner, story.business.id)
    text = f"{request.path} {request.body}"
    # The starting chart and tax codes are many; only those that the request names are read.
    addresses = {
        key_of(each): each["object"]["url"]
        for each in earlier
        if each["object"]["url"]
        and each["object"]["type"] not in WITHOUT_OWN_ANSWER
        and (each["cause"]["operation"] != "create_business" or each["object"]["id"] in text)
    }
    before = {key: read(partner.api, url) for key, url in addresses.items()}
    answer = request.send()
    assert answer.status_code in (200, 201), answer.text
    if operation.name == "create_business" or operation.node["tags"] == ["Sandboxes"]:
        events, _ = feed(partner, answer.json()["id"])
        made = [each for each in events if each["cause"]["operation"] == operation.name]
        story.close()
        return Observation(operation, made)
    events, _ = feed(partner, story.business.id, head)
    after = {key: read(partner.api, url) for key, url in addresses.items()}
    story.close()
    return Observation(
        operation,
        events,
        {key: value for key, value in before.items() if value},
        {key: value for key, value in after.items() if value},
    )


def feed(partner: Partner, business_id: str, after: int = 0) -> tuple[list[Record], int]:
    """Return the events of a business after a sequence, and the newest sequence."""
    path = f"/v1/platform/businesses/{business_id}/events/"
    answer = partner.api.get(path, params={"after": after, "page_size": 500}).json()
    assert not answer["has_more"]
    return answer["results"], answer["head_sequence"]


def read(client: httpx.Client, url: str) -> Record:
    """Return a record; an empty one if it is deleted."""
    answer = client.get(url)
    if answer.status_code == 404:
        return {}
    found: Record = answer.json()
    return found.get("payment", found)  # A payment of a vendor refund comes with the refund.


@pytest.fixture(scope="module")
def observed(acme: Partner) -> list[Observation]:
    """The events of a call with each example of each operation, and the records around it."""
    chosen = [each for each in CHANGES if not only or any(part in each.name for part in only)]
    return [observe(acme, each, example) for each in chosen for example in examples(each)]


def examples(operation: Operation) -> list[str]:
    """Return the names of the JSON examples of a body; one empty name without any."""
    return list(bodies(operation).get(JSON, {}).get("examples", {})) or [""]


class TestEveryChange:
    def test_is_in_an_event_of_its_record(self, observed: list[Observation]) -> None:
        assert [fault for each in observed for fault in each.untold()] == []

    def test_is_in_no_event_if_nothing_changed(self, observed: list[Observation]) -> None:
        assert [fault for each in observed for fault in each.vague()] == []

    def test_has_a_type_that_x_events_lists(self, observed: list[Observation]) -> None:
        unlisted = {
            each.operation.name: sorted(types)
            for each in observed
            if (types := each.types - listed(each.operation))
            and each.operation.name != "run_batch"  # Its events are those of its items.
        }
        assert unlisted == {}

    def test_each_listed_type_comes_or_has_a_reason(self, observed: list[Observation]) -> None:
        missing = {
            each.operation.name: listed(each.operation) - REASONS.keys() for each in observed
        }
        for each in observed:
            missing[each.operation.name] -= each.types
        assert {name: types for name, types in missing.items() if types} == {}


class TestEventTypes:
    def test_each_has_a_sentence(self) -> None:
        assert [*document()["components"]["x-event-types"]] == TYPES
        for text in document()["components"]["x-event-types"].values():
            assert text[0].isupper()
            assert text.endswith(".")

    def test_each_is_made_by_an_operation_or_without_a_request(self) -> None:
        made = {name for each in operations() for name in listed(each)}
        assert made | BY_NO_OPERATION == {*TYPES}

    def test_only_operations_that_write_list_events(self) -> None:
        assert {each.method for each in operations() if listed(each)}.isdisjoint({"get"})

    def test_a_list_has_the_order_of_the_types(self) -> None:
        for each in operations():
            names = each.node.get("x-events", [])
            assert names == sorted(set(names), key=TYPES.index), each.name
