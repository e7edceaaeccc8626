"""Seeds of both sides: documents, payments, credits, write-offs, refunds and payouts.

Each kind that a run uses up exists many times, and no record that others depend on is used up.
"""

from tests.builders.payouts import by_card, given_back, paid_out
from tests.builders.sales import refund_paid, refunded
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.builders.vendor_refunds import agreed_refund
from tests.fuzz.pools import CREDIT, LARGE, PAYMENT, Pools, ids, in_turn
from tests.partner import Business


def plant_refunds(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Create refundable payments, refunds to pay and to cancel, and a refund with many payments."""
    settled, unapplied = plant_paid(pools, SALES, business, customers)
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
        "owed_refunds": ids(owed),
        "unpaid_refunds": ids(unpaid),
        "paid_refunds": [half_paid["id"]],
        "refund_payments": ids(payments),
        "refunds": ids([half_paid, *owed[:5], *unpaid[:5]]),
    }


def plant_paid(
    pools: Pools, trade: Trade, business: Business, parties: list[Record]
) -> tuple[list[Record], list[Record]]:
    """Create for each party a paid document and an unapplied payment; return both."""
    paid = [trade.settle(business, party, LARGE) for party in parties]
    unapplied = [trade.pay(business, party, LARGE) for party in parties]
    pools |= {f"paid_{trade.path[:-1]}": ids(paid), f"unapplied_{PAYMENT[trade]}s": ids(unapplied)}
    return paid, unapplied


def plant_documents(
    pools: Pools, trade: Trade, business: Business, parties: list[Record], many: int
) -> None:
    """Create drafts, opened documents, and a large open document of each party."""
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
    """Create completed payments, some of them allocated, and pending ones to be cancelled."""
    whose = in_turn(parties, many)
    owed = [{"id": each} for each in pools[f"owed_{trade.path[:-1]}"]]
    made = [
        trade.pay(
            business,
            party,
            10_000 + n,
            *[trade.part(owed[n % len(owed)], 100)] * (n % 3 == 0),
            external_id=f"{PAYMENT[trade].replace('_', '-')}-{n}",
        )
        for n, party in enumerate(whose)
    ]
    pending = [trade.pay(business, party, 700, status="pending") for party in whose]
    pools |= {f"{PAYMENT[trade]}s": ids(made), f"pending_{PAYMENT[trade]}s": ids(pending)}


def plant_credits(
    pools: Pools, trade: Trade, business: Business, parties: list[Record], many: int
) -> None:
    """Create credits to apply, one for each party, drafts, and credits to void."""
    whose = in_turn(parties, many)
    credits_ = f"{CREDIT[trade]}s"
    opened = [trade.credit(business, party, LARGE) for party in parties]
    spare = [
        trade.credit(
            business, party, 1_000 + n, external_id=f"{CREDIT[trade].replace('_', '-')}-{n}"
        )
        for n, party in enumerate(whose)
    ]
    drafts = [
        business.made(trade.credits, trade.credit_body(party, {"amount": 900})) for party in whose
    ]
    pools |= {
        f"{trade.opened}_{credits_}": ids(opened),
        f"spare_{credits_}": ids(spare),
        # A draft is opened once; an open credit can be applied repeatedly.
        f"changed_{credits_}": ids([*opened, *drafts[: len(opened)]]),
        credits_: ids([*opened[:5], *drafts[-3:], *spare[:3]]),
    }


def plant_write_offs(
    pools: Pools, trade: Trade, business: Business, parties: list[Record], many: int
) -> None:
    """Create documents to write off, and one with many write-offs."""
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


def plant_purchases(pools: Pools, business: Business, many: int) -> None:
    """Create vendors with bills, payments, credits and refunds; put the IDs into the pools."""
    vendors = [business.vendor(external_id=f"vendor-{n}") for n in range(12)]
    pools |= {
        "vendors": ids(vendors),
        "vendor_words": [f"vendor-{n}" for n in range(12)],
        "spare_vendors": ids(business.vendor() for _ in range(many)),
        "silent_vendors": ids(business.vendor() for _ in range(many)),
    }
    plant_documents(pools, PURCHASES, business, vendors, many)
    paid, _ = plant_paid(pools, PURCHASES, business, vendors)
    pools["bills"] += ids(paid[:3])
    plant_payments(pools, PURCHASES, business, vendors, many)
    plant_credits(pools, PURCHASES, business, vendors, many)
    plant_vendor_refunds(pools, business, in_turn(vendors, many))
    plant_write_offs(pools, PURCHASES, business, vendors, many)


def plant_vendor_refunds(pools: Pools, business: Business, whose: list[Record]) -> None:
    """Create refunds whose payments change their status, and others to cancel."""
    agreed = [
        agreed_refund(business, vendor, 1_000_000, external_id=f"vendor-refund-{n}")
        for n, vendor in enumerate(whose)
    ]
    spare = [agreed_refund(business, vendor, 1_000 + n) for n, vendor in enumerate(whose)]
    pools |= {
        "vendor_refunds": ids([*agreed[:6], *spare[:4]]),
        "vendor_refund_payments": [payment_of(each) for each in agreed],
        "spare_vendor_refund_payments": [payment_of(each) for each in spare],
    }


def payment_of(refund: Record) -> str:
    """Return the ID of the only payment of a refund."""
    return str(refund["vendor_refund_payments"][0]["id"])


def plant_payouts(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Create payments and refund payments that wait at a processor, and payouts of others.

    Put the IDs into the pools, and the external IDs of known payouts.
    """
    whose = in_turn(customers, many)
    waiting = [by_card(business, each, 500 + n) for n, each in enumerate(whose * 3)]
    known = [
        paid_out(business, 490, by_card(business, each, 500, 10), external_id=f"payout-{n}")
        for n, each in enumerate(whose[:10])
    ]
    spare = [paid_out(business, 490, by_card(business, each, 500, 10)) for each in whose]
    pools |= {
        "card_payments": ids(waiting),
        "card_refund_payments": ids(given_back(business, each, 100) for each in whose),
        "payouts": ids(known),
        "payout_words": [each["external_id"] for each in known],
        "spare_payouts": ids(spare),
    }
