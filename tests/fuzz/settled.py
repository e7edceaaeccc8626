"""What is planted of money given back, credited and given up, and how a file is.

Refunds take from invoices and payments that nothing else touches, and each kind that a run uses up
is there many times over.
"""

from collections.abc import Iterable
from typing import Any

from tests.builders.sales import paid, part, refund_paid, refunded, sent
from tests.builders.trade import SALES, Trade
from tests.fuzz import files
from tests.fuzz.begun import plant_openings
from tests.partner import Business

Record = dict[str, Any]
Pools = dict[str, list[str]]
LARGE = 50_000_000


def plant_settled(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Plant refunds, credits, write-offs and openings of the books; the pools hold the ids."""
    plant_refunds(pools, business, customers, many)
    plant_credits(pools, SALES, business, customers, many)
    plant_write_offs(pools, SALES, business, customers, many)
    plant_openings(pools, business, customers, many)


def plant_refunds(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Money to give back, refunds to pay and to cancel, and one of which much is paid."""
    settled = [sent(business, customer, LARGE) for customer in customers]
    for customer, invoice in zip(customers, settled, strict=True):
        paid(business, customer, LARGE, part(invoice, LARGE))
    unapplied = [paid(business, customer, LARGE) for customer in customers]
    sources = [*settled, *unapplied]
    owed = [refunded(business, source, amount_cents=1_000_000) for source in sources]
    unpaid = [
        refunded(
            business, sources[n % len(sources)], amount_cents=100 + n, external_id=f"refund-{n}"
        )
        for n in range(many)
    ]
    half_paid = refunded(business, settled[0], amount_cents=LARGE // 2)
    payments = [
        refund_paid(business, half_paid, amount_cents=10, external_id=f"refund-payment-{n}")
        for n in range(many)
    ]
    pools |= {
        "paid_invoices": ids(settled),
        "unapplied_payments": ids(unapplied),
        "owed_refunds": ids(owed),
        "unpaid_refunds": ids(unpaid),
        "paid_refunds": [half_paid["id"]],
        "refund_payments": ids(payments),
        "refunds": ids([half_paid, *owed[:5], *unpaid[:5]]),
    }


def plant_documents(
    pools: Pools, trade: Trade, business: Business, parties: list[Record], many: int
) -> None:
    """Drafts, opened documents, and one for each party that is owed much."""
    whose, documents = in_turn(parties, many), trade.path[:-1]
    drafts = "drafts" if trade is SALES else f"draft_{documents}"
    made = [trade.draft(business, party, 1_000 + n) for n, party in enumerate(whose * 3)]
    opened = [
        trade.open(
            business,
            party,
            100_000 + n,
            external_id=f"{trade.noun}-{n}",
            **({} if trade is SALES else {"vendor_bill_number": f"B-{n}"}),
        )
        for n, party in enumerate(whose * 2)
    ]
    owed = [trade.open(business, party, 90_000_000) for party in parties]
    pools |= {
        drafts: ids(made[:many]),
        f"spare_{drafts}": ids(made[many : 2 * many]),
        f"{trade.opened}_{documents}": ids(opened[:many]),
        f"open_{documents}": ids([*made[2 * many :], *opened[many:]]),
        f"owed_{documents}": ids(owed),
        documents: ids([*made[:5], *opened[:5], *owed[:3]]),
    }


def plant_payments(
    pools: Pools, trade: Trade, business: Business, parties: list[Record], many: int
) -> None:
    """Completed payments, some of them allocated, and pending ones to be cancelled."""
    whose = in_turn(parties, many)
    payments = "payments" if trade is SALES else "bill_payments"
    owed = [{"id": each} for each in pools[f"owed_{trade.path[:-1]}"]]
    made = [
        trade.pay(
            business,
            party,
            10_000 + n,
            *[trade.part(owed[n % len(owed)], 100)] * (n % 3 == 0),
            external_id=f"{payments[:-1].replace('_', '-')}-{n}",
        )
        for n, party in enumerate(whose)
    ]
    pending = [trade.pay(business, party, 700, status="pending") for party in whose]
    pools |= {payments: ids(made), f"pending_{payments}": ids(pending)}


def plant_credits(
    pools: Pools, trade: Trade, business: Business, parties: list[Record], many: int
) -> None:
    """Credits to apply, one for each party, drafts, and others to void."""
    whose = in_turn(parties, many)
    credits_ = "credits" if trade is SALES else "vendor_credits"
    opened = [trade.credit(business, party, LARGE) for party in parties]
    spare = [
        trade.credit(
            business, party, 1_000 + n, external_id=f"{credits_[:-1].replace('_', '-')}-{n}"
        )
        for n, party in enumerate(whose)
    ]
    drafts = [
        business.made(trade.credits, trade.credit_body(party, {"amount": 900})) for party in whose
    ]
    pools |= {
        f"{trade.opened}_{credits_}": ids(opened),
        f"spare_{credits_}": ids(spare),
        # A draft is opened once; an open credit can be applied again and again.
        f"changed_{credits_}": ids([*opened, *drafts[: len(opened)]]),
        credits_: ids([*opened[:5], *drafts[-3:], *spare[:3]]),
    }


def plant_write_offs(
    pools: Pools, trade: Trade, business: Business, parties: list[Record], many: int
) -> None:
    """Documents to give up, and one of which much was given up bit by bit."""
    hopeless = [
        trade.open(business, parties[n % len(parties)], 60_000 + n)["id"] for n in range(many)
    ]
    given_up = trade.open(business, parties[0], LARGE)
    for number in range(many):
        facts = {"amount_cents": 10, "external_id": f"write-off-{number}"}
        after = trade.write_off(business, given_up, **facts)
    pools |= {
        f"hopeless_{trade.path[:-1]}": hopeless,
        f"written_off_{trade.path[:-1]}": [given_up["id"]],
        f"{trade.write_off_source}s": ids(after["write_offs"]),
    }


def upload(business: Business, kind: str, link: tuple[str, str]) -> str:
    """Send a file of a kind, linked to a thing of a kind."""
    linked_type, linked_id = link
    answer = business.api.post(
        "documents/",
        files={"file": (f"paper.{kind}", files.KINDS[kind])},
        data={"linked_type": linked_type, "linked_id": linked_id},
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def in_turn(parties: list[Record], many: int) -> list[Record]:
    """So many parties, each in its turn."""
    return [parties[n % len(parties)] for n in range(many)]


def ids(records: Iterable[Record]) -> list[str]:
    """The ids of records."""
    return [record["id"] for record in records]
