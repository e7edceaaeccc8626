"""What is planted of money given back, credited and given up, and how a file is.

Refunds take from invoices and payments that nothing else touches, and each kind that a run uses up
is there many times over.
"""

from typing import Any

from tests.builders.sales import credited, paid, refund_paid, refunded, sent
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
    plant_credits(pools, business, customers, many)
    plant_write_offs(pools, SALES, business, customers, many)
    plant_openings(pools, business, customers, many)


def plant_refunds(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Money to give back, refunds to pay and to cancel, and one of which much is paid."""
    settled = [sent(business, customer, LARGE) for customer in customers]
    for customer, invoice in zip(customers, settled, strict=True):
        share = {"invoice_id": invoice["id"], "amount_cents": LARGE}
        paid(business, customer, LARGE, allocations=[share])
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
        "paid_invoices": [each["id"] for each in settled],
        "unapplied_payments": [each["id"] for each in unapplied],
        "owed_refunds": [each["id"] for each in owed],
        "unpaid_refunds": [each["id"] for each in unpaid],
        "paid_refunds": [half_paid["id"]],
        "refund_payments": [each["id"] for each in payments],
        "refunds": [each["id"] for each in (half_paid, *owed[:5], *unpaid[:5])],
    }


def plant_credits(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Credits to apply, one for each customer, drafts, and others to void."""
    sent = [credited(business, customer, LARGE) for customer in customers]
    whose = [customers[n % len(customers)] for n in range(many)]
    spare = [
        credited(business, customer, 1_000 + n, external_id=f"credit-{n}")
        for n, customer in enumerate(whose)
    ]
    drafts = [
        business.made(
            "customer-credits/", {"customer_id": customer["id"], "line_items": [{"amount": 900}]}
        )
        for customer in whose
    ]
    pools |= {
        "sent_credits": [each["id"] for each in sent],
        "draft_credits": [each["id"] for each in drafts],
        "spare_credits": [each["id"] for each in spare],
        # A draft is sent once; what is sent can be applied again and again.
        "changed_credits": [each["id"] for each in (*sent, *drafts[: len(sent)])],
        "credits": [each["id"] for each in (*sent[:5], *drafts[-3:], *spare[:3])],
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
        f"{trade.write_off_source}s": [each["id"] for each in after["write_offs"]],
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
