"""Sixty events of fourteen months, each with its postings worked out by hand.

VAT is 20 % unless a tax code has another rate. A comment explains each split on the cash basis.
"""

from typing import Final

from tests.builders.payouts import paid_out
from tests.builders.sales import refunded
from tests.builders.taxed_quarters import of
from tests.builders.trade import PURCHASES, SALES
from tests.builders.vendor_refunds import agreed, changed, of_payment
from tests.journeys.worked_company.company import Company, cash

GOODS = {"account_identifier": {"type": "AccountCode", "code": "5000"}}
CARD = {"payment_method": "credit_card", "payment_processor": "stripe"}


def january(c: Company) -> None:
    """Record the events of January 2025."""
    c.on("2025-01-02").by_hand(on_1100=1_000_000, on_3000=-1_000_000)
    c.on("2025-01-03").by_hand(on_1100=500_000, on_2500=-500_000)
    c.on("2025-01-06").by_hand(on_1600=360_000, on_1100=-360_000)

    blue, crown, fox = (
        c.shop.customer(company_name=name, external_id=key)
        for name, key in (("Blue Door", "blue"), ("Crown Inn", "crown"), ("Fox Deli", "fox"))
    )
    rent, beans = (
        c.shop.vendor(company_name=name, external_id=key)
        for name, key in (("Quay Estates", "rent"), ("Raw Coffee", "beans"))
    )
    c.kept.update(blue=blue, crown=crown, fox=fox, rent=rent, beans=beans)

    c.kept["B1"] = c.on("2025-01-10").buys(rent, of("P20", 100_000), due_at="2025-02-09T00:00:00Z")
    c.accrual(on_6000=100_000, on_1300=20_000, on_2000=-120_000)
    c.on("2025-01-31").pays(c.kept["B1"], 120_000, on_6000=100_000, on_1300=20_000)


def february(c: Company) -> None:
    """Record the events of February 2025."""
    c.kept["I1"] = c.on("2025-02-03").sells(
        c.kept["blue"], of("S20", 300_000), due_at="2025-03-05T00:00:00Z"
    )
    c.accrual(on_1200=360_000, on_4000=-300_000, on_2200=-60_000)
    c.on("2025-02-20").is_paid(c.kept["I1"], 180_000, on_4000=-150_000, on_2200=-30_000)
    c.on("2025-02-28").by_hand(on_6000=10_000, on_1650=-10_000)


def march(c: Company) -> None:
    """Record the events of March 2025."""
    c.on("2025-03-05").is_paid(c.kept["I1"], 180_000, on_4000=-150_000, on_2200=-30_000)
    c.kept["I2"] = c.on("2025-03-10").sells(
        c.kept["crown"], of("S20", 100_000), of("S0", 50_000), due_at="2025-04-09T00:00:00Z"
    )
    c.accrual(on_1200=170_000, on_4000=-150_000, on_2200=-20_000)
    c.on("2025-03-20")
    # 60,000 of 170,000: 35,294.12 and 17,647.06 of the nets, 7,058.82 of the tax, which is rounded
    # up: 52,941 and 7,059.
    c.is_paid(c.kept["I2"], 60_000, on_4000=-52_941, on_2200=-7_059)


def april(c: Company) -> None:
    """Record the events of April 2025."""
    c.kept["B2"] = c.on("2025-04-02").buys(
        c.kept["beans"], {**of("P20", 200_000), **GOODS}, due_at="2025-05-02T00:00:00Z"
    )
    c.accrual(on_5000=200_000, on_1300=40_000, on_2000=-240_000)
    c.on("2025-04-10")
    fee = {"processing_fee_cents": 2_000, **CARD}
    card = SALES.pay(c.shop, c.kept["blue"], 120_000, payment_date=c.today.day, **fee)
    c.both(on_1150=118_000, on_6100=2_000, on_2100=-120_000)
    c.kept["I3"] = c.on("2025-04-15").sells(c.kept["blue"], of("S20", 100_000))
    c.accrual(on_1200=120_000, on_4000=-100_000, on_2200=-20_000)
    c.on("2025-04-16")
    SALES.change(c.shop, card, allocations=[SALES.part(c.kept["I3"], 120_000)])
    c.accrual(
        cash(on_2100=120_000, on_4000=-100_000, on_2200=-20_000), on_2100=120_000, on_1200=-120_000
    )
    c.on("2025-04-20")
    paid_out(c.shop, 118_000, card, completed_at=c.at)
    c.both(on_1100=118_000, on_1150=-118_000)


def may(c: Company) -> None:
    """Record the events of May 2025."""
    c.on("2025-05-01").pays(c.kept["B2"], 120_000, on_5000=100_000, on_1300=20_000)
    c.on("2025-05-12")
    given = {"amount": 20_000, "tax_code": "S20"}
    c.kept["CN"] = c.shop.made(
        SALES.credits, SALES.credit_body(c.kept["crown"], given, sent_at=c.at)
    )
    c.accrual(on_4100=20_000, on_2200=4_000, on_2250=-24_000)
    c.on("2025-05-13")
    # The credit of 24,000 is split over the rest of the invoice: 64,706 and 32,353 net, 12,941 tax.
    # That is 14,117.67, 7,058.84 and 2,823.49: 21,177 and 2,823.
    c.applies(SALES, c.kept["CN"], c.kept["I2"], 24_000)
    c.accrual(
        cash(on_4100=20_000, on_2200=4_000 - 2_823, on_4000=-21_177),
        on_2250=24_000,
        on_1200=-24_000,
    )


def june(c: Company) -> None:
    """Record the events of June 2025."""
    c.kept["I4"] = c.on("2025-06-10").sells(
        c.kept["fox"], of("S20", 50_000), due_at="2025-07-10T00:00:00Z"
    )
    c.accrual(on_1200=60_000, on_4000=-50_000, on_2200=-10_000)
    c.kept["B3"] = c.on("2025-06-15").buys(c.kept["rent"], of("PA20", 80_000))
    c.accrual(
        cash(on_1300=16_000, on_2200=-16_000),
        on_6000=80_000,
        on_2000=-80_000,
        on_1300=16_000,
        on_2200=-16_000,
    )
    c.on("2025-06-30").pays(c.kept["B3"], 80_000, on_6000=80_000)


def july(c: Company) -> None:
    """Record the events of July 2025."""
    c.on("2025-07-01")
    refunded(c.shop, c.kept["I1"], amount_cents=36_000, completed_at=c.at)
    c.accrual(
        cash(on_4100=30_000, on_2200=6_000, on_1100=-36_000),
        on_4100=30_000,
        on_2200=6_000,
        on_1100=-36_000,
    )
    c.on("2025-07-15").by_hand(on_2500=50_000, on_7000=2_500, on_1100=-52_500)
    c.on("2025-07-31")
    charges = c.bank.line(-1_500, date=c.today.day, description="CHARGES")
    c.bank.categorize(charges, "6300")
    c.both(on_6300=1_500, on_1100=-1_500)


def august(c: Company) -> None:
    """Record the events of August 2025."""
    c.on("2025-08-20")
    SALES.write_off(c.shop, c.kept["I4"], write_off_at=c.at, tax_relief=True)
    c.accrual(on_6200=50_000, on_2200=10_000, on_1200=-60_000)


def september(c: Company) -> None:
    """Record the events of September 2025."""
    c.kept["I5"] = c.on("2025-09-10").sells(
        c.kept["blue"], of("S20", 200_000), due_at="2025-10-10T00:00:00Z"
    )
    c.accrual(on_1200=240_000, on_4000=-200_000, on_2200=-40_000)
    c.kept["I10"] = c.on("2025-09-20").sells(
        c.kept["fox"], of("S20", 10_000), due_at="2025-10-20T00:00:00Z"
    )
    c.accrual(on_1200=12_000, on_4000=-10_000, on_2200=-2_000)
    c.on("2025-09-25")
    given = {"amount": 10_000, "tax_code": "P20"}
    c.kept["VC"] = c.shop.made(
        PURCHASES.credits, PURCHASES.credit_body(c.kept["beans"], given, received_at=c.at)
    )
    c.accrual(on_1260=12_000, on_5100=-10_000, on_1300=-2_000)
    c.on("2025-09-30").by_hand(on_6000=20_000, on_1650=-20_000)
    c.by_hand(on_8000=15_000, on_2450=-15_000)


def october(c: Company) -> None:
    """Record the events of October 2025."""
    c.on("2025-10-05")
    # 100,000 of 240,000: 83,333.33 net and 16,666.67 tax.
    c.is_paid(c.kept["I5"], 100_000, on_4000=-83_333, on_2200=-16_667)
    c.on("2025-10-08").asks(
        "PUT",
        PURCHASES.of_credit(c.kept["VC"]),
        {"allocations": [PURCHASES.share(c.kept["B2"], 12_000)]},
    )
    c.accrual(cash(on_5000=10_000, on_5100=-10_000), on_2000=12_000, on_1260=-12_000)
    c.on("2025-10-15")
    closed = c.shop.partner.key.patch(
        f"/v1/platform/businesses/{c.shop.id}/", json={"lock_date": "2025-09-30"}
    )
    assert closed.status_code == 200, closed.text
    c.on("2025-10-20").by_hand(on_2200=60_000, on_1300=-30_000, on_1100=-30_000)


def november(c: Company) -> None:
    """Record the events of November 2025."""
    c.on("2025-11-03")
    # A discount of 15,000 on the whole: its share of the parts is taken off before they are split.
    c.kept["I6"] = c.sells(
        c.kept["crown"],
        of("S20", 150_000),
        additional_discount=15_000,
        due_at="2025-12-03T00:00:00Z",
    )
    c.accrual(on_1200=162_000, on_4200=15_000, on_4000=-150_000, on_2200=-27_000)
    c.kept["bounced"] = c.on("2025-11-20").is_paid(
        c.kept["I6"], 81_000, on_4000=-67_500, on_2200=-13_500
    )


def december(c: Company) -> None:
    """Record the events of December 2025."""
    c.on("2025-12-02")
    SALES.change(c.shop, c.kept["bounced"], status="failed")
    c.accrual(
        cash(on_1100=-81_000, on_4000=67_500, on_2200=13_500), on_1100=-81_000, on_1200=81_000
    )
    c.on("2025-12-10").pay(SALES, c.kept["I6"], 162_000, payment_method="cash")
    c.accrual(
        cash(on_1000=162_000, on_4000=-135_000, on_2200=-27_000), on_1000=162_000, on_1200=-162_000
    )
    c.on("2025-12-15").pays(c.kept["B2"], 108_000, on_5000=90_000, on_1300=18_000)
    c.on("2025-12-20")
    twice = PURCHASES.pay(c.shop, c.kept["rent"], 30_000, payment_date=c.today.day)
    c.both(on_1250=30_000, on_1100=-30_000)
    c.on("2025-12-22")
    item = of_payment(twice, 30_000)
    back = agreed(c.shop, c.kept["rent"], 30_000, item, refund_date=c.today.day)
    c.accrual(on_1270=30_000, on_1250=-30_000)
    c.on("2025-12-23")
    changed(c.shop, back["payment"], status="completed", payment_date=c.today.day)
    c.accrual(cash(on_1100=30_000, on_1250=-30_000), on_1100=30_000, on_1270=-30_000)
    c.kept["B4"] = c.on("2025-12-31").buys(
        c.kept["rent"], of("P20", 60_000), transaction_tags=["van"], due_at="2026-01-30T00:00:00Z"
    )
    c.accrual(on_6000=60_000, on_1300=12_000, on_2000=-72_000)


def january_after(c: Company) -> None:
    """Record the events of January 2026."""
    c.kept["I7"] = c.on("2026-01-05").sells(
        c.kept["blue"], of("S20", 80_000), transaction_tags=["north"]
    )
    c.accrual(on_1200=96_000, on_4000=-80_000, on_2200=-16_000)
    c.on("2026-01-10").is_paid(c.kept["I7"], 96_000, on_4000=-80_000, on_2200=-16_000)
    c.on("2026-01-15")
    ahead = SALES.pay(c.shop, c.kept["fox"], 40_000, payment_date=c.today.day)
    c.both(on_1100=40_000, on_2100=-40_000)
    c.on("2026-01-20")
    refunded(c.shop, ahead, amount_cents=40_000, completed_at=c.at)
    c.both(on_2100=40_000, on_1100=-40_000)
    c.on("2026-01-25")
    # 86,000 are left: 50,588 and 25,294 net, 10,118 tax. Of 6,000: 3,529.40, 1,764.70, 705.91.
    SALES.write_off(c.shop, c.kept["I2"], amount_cents=6_000, write_off_at=c.at)
    c.accrual(on_6200=6_000, on_1200=-6_000)
    c.on("2026-01-28")
    # 80,000 are left: 47,059 and 23,529 net, 9,412 tax. Half is 23,529.5, 11,764.5 and 4,706; the
    # odd unit goes to the first: 35,294 and 4,706.
    c.is_paid(c.kept["I2"], 40_000, on_4000=-35_294, on_2200=-4_706)


def february_after(c: Company) -> None:
    """Record the events of February 2026."""
    c.on("2026-02-01")
    c.shop.made(SALES.path, SALES.body(c.kept["fox"], of("S20", 10_000)))  # A draft is in no books.
    wrong = c.on("2026-02-02").sells(c.kept["fox"], of("S20", 20_000))
    c.accrual(on_1200=24_000, on_4000=-20_000, on_2200=-4_000)
    c.on("2026-02-05").asks("POST", SALES.of(wrong, "void"), {})
    c.accrual(on_1200=-24_000, on_4000=20_000, on_2200=4_000)
    c.on("2026-02-10").by_hand(on_1400=12_000, on_1100=-12_000)
    c.kept["I11"] = c.on("2026-02-11").sells(c.kept["crown"], of("S20", 50_000))
    c.accrual(on_1200=60_000, on_4000=-50_000, on_2200=-10_000)
    card = c.on("2026-02-12").pay(SALES, c.kept["I11"], 60_000, processing_fee_cents=1_200, **CARD)
    c.accrual(
        cash(on_1150=58_800, on_6100=1_200, on_4000=-50_000, on_2200=-10_000),
        on_1150=58_800,
        on_6100=1_200,
        on_1200=-60_000,
    )
    c.on("2026-02-15")
    interest = c.bank.line(700, date=c.today.day, description="INTEREST")
    c.bank.categorize(interest, "4600")
    c.both(on_1100=700, on_4600=-700)
    c.on("2026-02-18")
    held = {"type": "reserve_hold", "amount_cents": -5_000}
    paid_out(c.shop, 53_800, card, completed_at=c.at, other_items=[held])
    c.both(on_1100=53_800, on_1160=5_000, on_1150=-58_800)


def corrections(c: Company) -> None:
    """Record the corrections of earlier events, made after 19 February 2026."""
    c.on("2026-02-20").by_hand("2025-11-30", on_6000=9_000, on_2400=-9_000)
    c.on("2026-02-21")
    # The bill of December is corrected to a higher amount, on its own day.
    bill = PURCHASES.body(
        c.kept["rent"], of("P20", 70_000), transaction_tags=["van"], due_at="2026-01-30T00:00:00Z"
    )
    c.asks("PUT", PURCHASES.of(c.kept["B4"]), bill)
    c.accrual(on="2025-12-31", on_6000=10_000, on_1300=2_000, on_2000=-12_000)
    c.on("2026-02-22")
    # The invoice of September is corrected to a higher amount, on the first day that is not locked.
    invoice = SALES.body(c.kept["fox"], of("S20", 15_000), due_at="2025-10-20T00:00:00Z")
    c.asks("PUT", SALES.of(c.kept["I10"]), invoice)
    c.accrual(on="2025-10-01", on_1200=6_000, on_4000=-5_000, on_2200=-1_000)
    c.on("2026-02-25")
    # 140,000 of 240,000 are left: the whole rest of each part.
    c.is_paid(c.kept["I5"], 140_000, on_4000=-116_667, on_2200=-23_333)


BEFORE: Final = (
    january,
    february,
    march,
    april,
    may,
    june,
    july,
    august,
    september,
    october,
    november,
    december,
    january_after,
    february_after,
)
