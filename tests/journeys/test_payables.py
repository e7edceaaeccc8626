"""What a partner's accountant would tell of a sawmill's account: every way in which money is owed
to a vendor, settled and got back, until each balance is explained by the documents behind it."""

from tests.api_server import ApiServer
from tests.builders.purchases import (
    BILLS,
    bill_body,
    bill_paid,
    part,
    received,
    share,
    vendor_credited,
)
from tests.builders.vendor_refunds import (
    agreed_refund,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_payment,
)
from tests.clock import today
from tests.journeys.statements import Account, Record, told
from tests.partner import Partner

TODAY = str(today())
GOODS = {"type": "AccountCode", "code": "5000"}
BOARDS = {"description": "Board", "quantity": 40, "unit_price": 2_500, "tax_rate": 20}
FREIGHT = {"description": "Freight by sea", "quantity": 1, "unit_price": 20_000, "tax_rate": 0}
VARNISH = {"description": "Varnish", "quantity": 1, "unit_price": 50_000, "tax_rate": 20}
SAWS = {"description": "Saw", "quantity": 5, "unit_price": 5_000, "tax_rate": 20}


def opened(acme: Partner) -> Account:
    shop = acme.business()
    return Account(shop, shop.vendor(company_name="Fjord Sawmill", payment_terms_days=30))


def billed(account: Account) -> tuple[Record, Record, Record]:
    """Three bills: one of two costs and rates, one plain, one with a discount on the whole."""
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


def billed_twice(account: Account) -> None:
    """The first bill comes once more, by post; whoever types it in again is told."""
    body = {
        "vendor_id": account.party["id"],
        "vendor_bill_number": "FS-31",
        "received_at": "2025-03-06T09:00:00Z",
        "line_items": [BOARDS],
    }
    refused = told(account.shop.api.post("bills/", json=body), 409)
    assert refused["error_code"] == "duplicate_bill_number"
    assert len(account.listed("bills/")) == 3


def paid_in_part_and_then_too_much(account: Account, boards: Record, varnish: Record) -> None:
    """Cash pays a part, a transfer the rest and a hundred more, which waits for the varnish."""
    shop, sawmill = account.shop, account.party
    cash = bill_paid(
        shop,
        sawmill,
        50_000,
        payment_date="2025-03-10",
        payment_method="cash",
        allocations=[part(boards, 50_000)],
    )
    account.expect(cash, "2025-03-10", on_2000=50_000, on_1000=-50_000)
    assert account.standing(boards) == ("overdue", 90_000)
    transfer = bill_paid(
        shop,
        sawmill,
        100_000,
        payment_date="2025-03-20",
        processing_fee_cents=500,
        allocations=[part(boards, 90_000)],
    )
    account.expect(transfer, "2025-03-20", on_2000=90_000, on_1250=10_000, on_1100=-100_000)
    account.expect(transfer, "2025-03-20", on_6300=500, on_1100=-500)
    assert account.standing(boards) == ("paid", 0)
    assert transfer["unallocated_amount_cents"] == account.held("1250") == 10_000
    both = {"allocations": [part(boards, 90_000), part(varnish, 10_000)]}
    told(shop.api.patch(f"bills/payments/{transfer['id']}/", json=both))
    account.expect(transfer, TODAY, on_2000=10_000, on_1250=-10_000)
    assert account.standing(varnish) == ("overdue", 50_000)


def credited(account: Account, varnish: Record, saws: Record) -> None:
    """Rust is credited over two bills; a part of the credit is left for the next one."""
    credit = vendor_credited(
        account.shop,
        account.party,
        15_000,
        line_items=[{"amount": 15_000, "tax_amount_cents": 3_000, "memo": "Rust"}],
        received_at="2025-05-10T09:00:00Z",
        allocations=[share(varnish, 8_000), share(saws, 4_000)],
    )
    account.expect(credit, "2025-05-10", on_1260=18_000, on_5100=-15_000, on_1300=-3_000)
    account.expect(credit, "2025-05-10", on_2000=12_000, on_1260=-12_000)
    assert (credit["status"], credit["unapplied_amount"]) == ("partially_applied", 6_000)
    assert account.standing(varnish) == ("overdue", 42_000)
    assert account.standing(saws) == ("overdue", 24_800)


def returned_and_paid_again(account: Account, saws: Record) -> None:
    """A cheque for the saws comes back, and a transfer pays them; money in advance goes out too."""
    shop, sawmill = account.shop, account.party
    allocations = [part(saws, 24_800)]
    cheque = bill_paid(
        shop,
        sawmill,
        24_800,
        payment_date="2025-06-01",
        payment_method="check",
        allocations=allocations,
    )
    account.expect(cheque, "2025-06-01", on_2000=24_800, on_1100=-24_800)
    path = f"bills/payments/{cheque['id']}/"
    bounced = told(shop.api.patch(path, json={"status": "failed"}))["payment"]
    account.expect(cheque, TODAY, on_1100=24_800, on_2000=-24_800)
    assert (bounced["allocations"], account.standing(saws)) == ([], ("overdue", 24_800))
    wire = bill_paid(
        shop,
        sawmill,
        24_800,
        payment_date="2025-06-15",
        payment_method="wire",
        allocations=allocations,
    )
    account.expect(wire, "2025-06-15", on_2000=24_800, on_1100=-24_800)
    assert account.standing(saws) == ("paid", 0)
    advance = bill_paid(shop, sawmill, 15_000, payment_date="2025-06-20")
    account.expect(advance, "2025-06-20", on_1250=15_000, on_1100=-15_000)


def given_back_of_a_bill(account: Account, boards: Record) -> None:
    """Boards were short: their share of cost, freight and tax comes back, in two payments."""
    refund = agreed_refund(
        account.shop,
        account.party,
        30_000,
        refund_date="2025-06-10",
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
    """The varnish is paid, and most of that money comes back: the bill is owed again."""
    payment = bill_paid(
        account.shop,
        account.party,
        42_000,
        payment_date="2025-07-01",
        allocations=[part(varnish, 42_000)],
    )
    account.expect(payment, "2025-07-01", on_2000=42_000, on_1100=-42_000)
    assert account.standing(varnish) == ("paid", 0)
    refund = agreed_refund(
        account.shop,
        account.party,
        30_000,
        refund_date="2025-07-10",
        allocations=[of_payment(payment, 30_000)],
    )
    account.expect(refund, "2025-07-10", on_1270=30_000, on_1250=-30_000)
    account.expect(payment, "2025-07-10", on_1250=30_000, on_2000=-30_000)
    assert refund["status"] == "allocated"
    assert account.standing(varnish) == ("overdue", 30_000)


def kept_as_a_credit(account: Account, varnish: Record) -> None:
    """A crate goes back, and no money comes: a credit is there, and settles some of the varnish."""
    refund = agreed_refund(
        account.shop,
        account.party,
        12_000,
        refund_date="2025-08-01",
        refund_type="goods_return",
        allocations=[as_credit(12_000)],
    )
    [payment] = refund["vendor_refund_payments"]
    assert payment["refunded_amount"] == 0
    done = changed(account.shop, payment, status="completed")
    assert done["refund"]["status"] == "completed"
    credit = account.get(f"vendor-credits/{refund['allocations'][0]['vendor_credit_id']}/")
    account.expect(credit, "2025-08-01", on_1260=12_000, on_5100=-12_000)
    allocations = {"allocations": [share(varnish, 12_000)]}
    told(account.shop.api.put(f"vendor-credits/{credit['id']}/", json=allocations))
    account.expect(credit, TODAY, on_2000=12_000, on_1260=-12_000)
    assert account.standing(varnish) == ("overdue", 18_000)


def explained_only_later(account: Account, boards: Record) -> None:
    """Money comes that nobody can place; then most of it turns out to be for the boards."""
    refund = agreed_refund(account.shop, account.party, 9_000, refund_date="2025-08-15")
    account.expect(refund, "2025-08-15", on_1270=9_000, on_1900=-9_000)
    [payment] = refund["vendor_refund_payments"]
    changed(account.shop, payment, status="completed", payment_date="2025-08-20")
    account.expect(payment, "2025-08-20", on_1100=9_000, on_1270=-9_000)
    assert account.held("1900") == -9_000
    known = changed(account.shop, payment, allocations=[of_bill(boards, 5_000)])
    account.expect(
        refund, TODAY, on_1900=5_000, on_1270=0, on_5000=-3_572, on_6000=-714, on_1300=-714
    )
    # The money that came pays other parts of the claim now, and as much of it.
    account.expect(payment, TODAY, on_1270=0)
    assert known["refund"]["status"] == "partially_allocated"


def agreed_and_called_off(account: Account, saws: Record) -> None:
    """A part of the saws is to come back, the transfer fails, and it is called off."""
    refund = agreed_refund(
        account.shop,
        account.party,
        6_000,
        refund_date="2025-09-10",
        allocations=[of_bill(saws, 6_000)],
    )
    account.expect(refund, "2025-09-10", on_1270=6_000, on_6000=-5_000, on_1300=-1_000)
    [payment] = refund["vendor_refund_payments"]
    changed(account.shop, payment, status="failed", failure_reason="Account closed")
    cancelled(account.shop, payment)
    account.expect(refund, TODAY, on_1270=-6_000, on_6000=5_000, on_1300=1_000)
    shown = account.get(f"vendor-refunds/{refund['id']}/")
    assert (shown["status"], shown["allocations"]) == ("cancelled", [])


def explained(account: Account) -> None:
    """Each balance is what the documents behind it say."""
    owed = sum(each["outstanding_balance"] for each in account.listed("bills/"))
    sawmill = account.get(f"vendors/{account.party['id']}/")
    assert account.held("2000") == owed == sawmill["outstanding_balance"] == 18_000
    payments = account.listed("bills/payments/", status="completed")
    in_advance = sum(each["unallocated_amount_cents"] for each in payments)
    assert account.held("1250") == in_advance == 15_000
    credits = account.listed("vendor-credits/")
    assert account.held("1260") == sum(each["unapplied_amount"] for each in credits) == 6_000
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
        billed_twice(account)
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
