"""A sawmill's account: every way in which money is owed to a vendor, settled and refunded.

In the end the documents explain each balance.
"""

from typing import Any

from tests.api_server import ApiServer
from tests.builders.purchases import (
    BILLS,
    bill_body,
    part,
    received,
    share,
)
from tests.builders.trade import PURCHASES, Record
from tests.builders.vendor_refunds import (
    agreed_refund,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_payment,
)
from tests.clock import today
from tests.journeys.statements import Account, checked
from tests.partner import Partner

TODAY = str(today())
GOODS = {"type": "AccountCode", "code": "5000"}
BOARDS = {"description": "Board", "quantity": 40, "unit_price": 2_500, "tax_rate": 20}
FREIGHT = {"description": "Freight by sea", "quantity": 1, "unit_price": 20_000, "tax_rate": 0}
VARNISH = {"description": "Varnish", "quantity": 1, "unit_price": 50_000, "tax_rate": 20}
SAWS = {"description": "Saw", "quantity": 5, "unit_price": 5_000, "tax_rate": 20}


def opened(acme: Partner) -> Account:
    shop = acme.business()
    return Account(
        shop, shop.vendor(company_name="Fjord Sawmill", payment_terms_days=30), PURCHASES
    )


def billed(account: Account) -> tuple[Record, Record, Record]:
    """Receive three bills: one of two costs and rates, one plain, one with a total discount."""
    shop, sawmill = account.shop, account.party
    boards = received(
        shop,
        sawmill,
        bill_date="2025-03-01",
        received_at="2025-03-03T09:00:00Z",
        vendor_bill_number="FS-31",
        line_items=[{**BOARDS, "account_identifier": GOODS}, FREIGHT],
    )
    account.expect(
        boards, "2025-03-01", on_5000=100_000, on_6000=20_000, on_1300=20_000, on_2000=-140_000
    )
    varnish = received(
        shop,
        sawmill,
        bill_date="2025-04-01",
        vendor_bill_number="FS-44",
        line_items=[{**VARNISH, "account_identifier": GOODS}],
    )
    account.expect(varnish, "2025-04-01", on_5000=50_000, on_1300=10_000, on_2000=-60_000)
    undated = {"received_at": "2025-05-01T09:00:00Z", "additional_discount": 1_000}
    saws = shop.made(BILLS, bill_body(sawmill, SAWS, **undated))
    account.expect(saws, "2025-05-01", on_6000=24_000, on_1300=4_800, on_2000=-28_800)
    assert [each["bill_number"] for each in (boards, varnish, saws)] == [
        *("BILL-000001", "BILL-000002", "BILL-000003")
    ]
    return boards, varnish, saws


def paid_in_part_and_then_too_much(account: Account, boards: Record, varnish: Record) -> None:
    """Pay the boards in cash and by transfer; the excess of 100.00 is applied to the varnish."""
    cash = account.pay("2025-03-10", 50_000, part(boards, 50_000), payment_method="cash")
    account.expect(cash, "2025-03-10", on_2000=50_000, on_1000=-50_000)
    assert account.standing(boards) == ("overdue", 90_000)
    transfer = account.pay("2025-03-20", 100_000, part(boards, 90_000), processing_fee_cents=500)
    account.expect(transfer, "2025-03-20", on_2000=90_000, on_1250=10_000, on_1100=-100_000)
    account.expect(transfer, "2025-03-20", on_6300=500, on_1100=-500)
    assert account.standing(boards) == ("paid", 0)
    assert transfer["unallocated_amount_cents"] == account.held("1250") == 10_000
    account.change(transfer, allocations=[part(boards, 90_000), part(varnish, 10_000)])
    account.expect(transfer, TODAY, on_2000=10_000, on_1250=-10_000)
    assert account.standing(varnish) == ("overdue", 50_000)


def credited(account: Account, varnish: Record, saws: Record) -> None:
    """Credit rust over two bills; 60.00 of the credit stay unapplied."""
    account.credit_over_two(varnish, saws)
    assert account.standing(varnish) == ("overdue", 42_000)
    assert account.standing(saws) == ("overdue", 24_800)


def returned_and_paid_again(account: Account, saws: Record) -> None:
    """Pay the saws by cheque, which bounces, and again by wire; pay 150.00 in advance."""
    cheque = account.pay("2025-06-01", 24_800, part(saws, 24_800), payment_method="check")
    account.expect(cheque, "2025-06-01", on_2000=24_800, on_1100=-24_800)
    bounced = account.change(cheque, status="failed")
    account.expect(cheque, TODAY, on_1100=24_800, on_2000=-24_800)
    assert (bounced["allocations"], account.standing(saws)) == ([], ("overdue", 24_800))
    wire = account.pay("2025-06-15", 24_800, part(saws, 24_800), payment_method="wire")
    account.expect(wire, "2025-06-15", on_2000=24_800, on_1100=-24_800)
    assert account.standing(saws) == ("paid", 0)
    advance = account.pay("2025-06-20", 15_000)
    account.expect(advance, "2025-06-20", on_1250=15_000, on_1100=-15_000)


def agreed_on(account: Account, day: str, total: int, **facts: Any) -> Record:
    return agreed_refund(account.shop, account.party, total, refund_date=day, **facts)


def given_back_of_a_bill(account: Account, boards: Record) -> None:
    """Refund 300.00 of the boards, with a share of cost, freight and tax, in two payments."""
    refund = agreed_on(
        account,
        "2025-06-10",
        30_000,
        refund_type="billing_error",
        allocations=[of_bill(boards, 30_000)],
        payments=[
            {"amount_cents": 10_000, "payment_method": "cash"},
            {"amount_cents": 20_000, "processing_fee_cents": 150},
        ],
    )
    account.expect(
        refund, "2025-06-10", on_1270=30_000, on_5000=-21_428, on_6000=-4_286, on_1300=-4_286
    )
    assert account.held("1270") == 30_000
    first, second = refund["vendor_refund_payments"]
    changed(account.shop, first, status="completed", payment_date="2025-06-20")
    account.expect(first, "2025-06-20", on_1000=10_000, on_1270=-10_000)
    done = changed(account.shop, second, status="completed", payment_date="2025-06-25")
    account.expect(second, "2025-06-25", on_1100=19_850, on_6300=150, on_1270=-20_000)
    assert done["refund"]["status"] == "completed"
    assert account.standing(boards) == ("paid", 0)


def given_back_of_a_payment(account: Account, varnish: Record) -> None:
    """Pay the varnish, then refund 300.00 of the payment: the bill is outstanding again."""
    payment = account.pay("2025-07-01", 42_000, part(varnish, 42_000))
    account.expect(payment, "2025-07-01", on_2000=42_000, on_1100=-42_000)
    assert account.standing(varnish) == ("paid", 0)
    refund = agreed_on(account, "2025-07-10", 30_000, allocations=[of_payment(payment, 30_000)])
    account.expect(refund, "2025-07-10", on_1270=30_000, on_1250=-30_000)
    account.expect(payment, "2025-07-10", on_1250=30_000, on_2000=-30_000)
    assert refund["status"] == "allocated"
    assert account.standing(varnish) == ("overdue", 30_000)


def kept_as_a_credit(account: Account, varnish: Record) -> None:
    """Keep a refund of 120.00 as a credit, and settle a part of the varnish with it."""
    refund = agreed_on(
        account, "2025-08-01", 12_000, refund_type="goods_return", allocations=[as_credit(12_000)]
    )
    [payment] = refund["vendor_refund_payments"]
    assert payment["refunded_amount"] == 0
    done = changed(account.shop, payment, status="completed")
    assert done["refund"]["status"] == "completed"
    credit = account.get(f"vendor-credits/{refund['allocations'][0]['vendor_credit_id']}/")
    account.expect(credit, "2025-08-01", on_1260=12_000, on_5100=-12_000)
    allocations = {"allocations": [share(varnish, 12_000)]}
    checked(account.shop.api.put(f"vendor-credits/{credit['id']}/", json=allocations))
    account.expect(credit, TODAY, on_2000=12_000, on_1260=-12_000)
    assert account.standing(varnish) == ("overdue", 18_000)


def explained_only_later(account: Account, boards: Record) -> None:
    """Receive an unallocated refund of 90.00, and allocate 50.00 of it to the boards later."""
    refund = agreed_on(account, "2025-08-15", 9_000)
    account.expect(refund, "2025-08-15", on_1270=9_000, on_1900=-9_000)
    [payment] = refund["vendor_refund_payments"]
    changed(account.shop, payment, status="completed", payment_date="2025-08-20")
    account.expect(payment, "2025-08-20", on_1100=9_000, on_1270=-9_000)
    assert account.held("1900") == -9_000
    known = changed(account.shop, payment, allocations=[of_bill(boards, 5_000)])
    account.expect(
        refund, TODAY, on_1900=5_000, on_1270=0, on_5000=-3_572, on_6000=-714, on_1300=-714
    )
    # The payment now settles other parts of the claim, for the same amount.
    account.expect(payment, TODAY, on_1270=0)
    assert known["refund"]["status"] == "partially_allocated"


def agreed_and_called_off(account: Account, saws: Record) -> None:
    """Create a refund of a part of the saws, fail its payment, and cancel it."""
    refund = agreed_on(account, "2025-09-10", 6_000, allocations=[of_bill(saws, 6_000)])
    account.expect(refund, "2025-09-10", on_1270=6_000, on_6000=-5_000, on_1300=-1_000)
    [payment] = refund["vendor_refund_payments"]
    changed(account.shop, payment, status="failed", failure_reason="Account closed")
    cancelled(account.shop, payment)
    account.expect(refund, TODAY, on_1270=-6_000, on_6000=5_000, on_1300=1_000)
    shown = account.get(f"vendor-refunds/{refund['id']}/")
    assert (shown["status"], shown["allocations"]) == ("cancelled", [])


def explained(account: Account) -> None:
    account.explain(owed=18_000, in_advance=15_000, credited=6_000)
    live = [each for each in account.listed("vendor-refunds/") if each["status"] != "cancelled"]
    to_come = sum(
        payment["refunded_amount"]
        for refund in live
        for payment in refund["vendor_refund_payments"]
        if payment["status"] != "completed"
    )
    assert account.held("1270") == to_come == 30_000
    unexplained = sum(each["unallocated_amount"] for each in live)
    assert account.held("1900") == -unexplained == -4_000


class TestPayables:
    def test_every_balance_is_explained_by_the_documents_behind_it(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        account = opened(acme)
        boards, varnish, saws = billed(account)
        paid_in_part_and_then_too_much(account, boards, varnish)
        credited(account, varnish, saws)
        returned_and_paid_again(account, saws)
        given_back_of_a_bill(account, boards)
        given_back_of_a_payment(account, varnish)
        kept_as_a_credit(account, varnish)
        explained_only_later(account, boards)
        agreed_and_called_off(account, saws)

        explained(account)
        assert account.posted() == account.statements
        account.prove(api_server)
