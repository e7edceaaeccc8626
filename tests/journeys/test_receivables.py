"""A hotel's account: every way in which money is owed, settled, written off and refunded.

In the end the documents explain each balance.
"""

from tests.api_server import ApiServer
from tests.builders.files import KINDS, PDF, follow, in_json
from tests.builders.sales import part, refund_paid, refunded, sent, written_off
from tests.builders.trade import Record
from tests.clock import today
from tests.journeys.statements import Account, checked
from tests.partner import Partner

TODAY = str(today())
TERMS = {"payment_terms_days": 30}
CHAIRS = {"description": "Chair", "quantity": 40, "unit_price": 2_500, "tax_rate": 20}
BOOKS = {"description": "Book", "quantity": 10, "unit_price": 2_000, "tax_rate": 0}
TABLE = {"description": "Table", "quantity": 1, "unit_price": 50_000, "tax_rate": 20}
LAMPS = {"description": "Lamp", "quantity": 5, "unit_price": 5_000, "tax_rate": 20}


def opened(acme: Partner) -> Account:
    shop = acme.business()
    customer = {"company_name": "Harbour Hotel", "document": in_json(name="terms.pdf"), **TERMS}
    return Account(shop, shop.made("customers/", customer))


def invoiced(account: Account) -> tuple[Record, Record, Record]:
    """Send three invoices: one with lines of two rates, one plain, one with a discount."""
    shop, hotel = account.shop, account.party
    furniture = sent(
        shop, hotel, sent_at="2025-03-01T09:00:00Z", line_items=[CHAIRS, BOOKS], document=in_json()
    )
    account.expect(furniture, "2025-03-01", on_1200=140_000, on_4000=-120_000, on_2200=-20_000)
    table = sent(
        shop, hotel, sent_at="2025-04-01T09:00:00Z", line_items=[TABLE], document=in_json()
    )
    account.expect(table, "2025-04-01", on_1200=60_000, on_4000=-50_000, on_2200=-10_000)
    lamps = sent(
        shop,
        hotel,
        sent_at="2025-05-01T09:00:00Z",
        line_items=[LAMPS],
        additional_discount=1_000,
        document=in_json(),
    )
    account.expect(
        lamps, "2025-05-01", on_1200=28_800, on_4200=1_000, on_4000=-25_000, on_2200=-4_800
    )
    return furniture, table, lamps


def paid_in_part_and_then_too_much(account: Account, furniture: Record, table: Record) -> None:
    """Pay the furniture by card and by transfer; the excess of 100.00 is applied to the table."""
    card = account.pay(
        "2025-03-10",
        50_000,
        part(furniture, 50_000),
        payment_method="stripe",
        processing_fee_cents=720,
    )
    account.expect(card, "2025-03-10", on_1150=50_000, on_1200=-50_000)
    account.expect(card, "2025-03-10", on_6100=720, on_1150=-720)
    assert account.standing(furniture) == ("overdue", 90_000)
    transfer = account.pay("2025-03-20", 100_000, part(furniture, 90_000))
    account.expect(transfer, "2025-03-20", on_1100=100_000, on_1200=-90_000, on_2100=-10_000)
    assert account.standing(furniture) == ("paid", 0)
    assert transfer["unapplied_amount_cents"] == account.held("2100") == 10_000
    both = [part(furniture, 90_000), part(table, 10_000)]
    applied = account.change(transfer, allocations=both)
    account.expect(transfer, TODAY, on_2100=10_000, on_1200=-10_000)
    assert applied["is_fully_allocated"] is True
    assert account.standing(table) == ("overdue", 50_000)


def credited(account: Account, table: Record, lamps: Record) -> None:
    """Credit scratches over two invoices; 60.00 of the credit stay unapplied."""
    photo = in_json(name="scratches.png", content=KINDS["image/png"])
    account.credit_over_two(table, lamps, document=photo)
    assert account.standing(table) == ("overdue", 42_000)
    assert account.standing(lamps) == ("overdue", 24_800)


def written_off_and_paid_after_all(account: Account, lamps: Record) -> None:
    path = f"invoices/{lamps['id']}/write-offs/"
    lost = written_off(account.shop, lamps, write_off_at="2025-08-01T09:00:00Z", memo="Given up")
    [write_off] = lost["write_offs"]
    account.expect(write_off, "2025-08-01", on_6200=24_800, on_1200=-24_800)
    assert (lost["status"], write_off["amount_cents"]) == ("written_off", 24_800)
    checked(account.shop.api.delete(f"{path}{write_off['id']}/"))
    account.expect(write_off, TODAY, on_1200=24_800, on_6200=-24_800)
    assert account.standing(lamps) == ("overdue", 24_800)
    late = account.pay("2025-09-01", 24_800, part(lamps, 24_800))
    account.expect(late, "2025-09-01", on_1100=24_800, on_1200=-24_800)
    assert account.standing(lamps) == ("paid", 0)


def refunded_in_two_payments(account: Account, furniture: Record) -> None:
    """Refund some chairs with their tax, by card and by transfer."""
    refund = refunded(account.shop, furniture, amount_cents=30_000, document=in_json())
    account.expect(refund, TODAY, on_4100=25_714, on_2200=4_286, on_2300=-30_000)
    assert account.held("2300") == 30_000
    by_card = refund_paid(
        account.shop, refund, amount_cents=10_000, method="STRIPE", refund_processing_fee_cents=150
    )
    account.expect(by_card, TODAY, on_2300=10_000, on_1150=-10_000)
    account.expect(by_card, TODAY, on_6100=150, on_1150=-150)
    assert account.get(f"invoices/refunds/{refund['id']}/")["status"] == "processing"
    rest = refund_paid(account.shop, refund)
    account.expect(rest, TODAY, on_2300=20_000, on_1100=-20_000)
    assert account.get(f"invoices/refunds/{refund['id']}/")["status"] == "paid"
    assert account.standing(furniture) == ("paid", 0)


def given_back_what_settled_nothing(account: Account) -> None:
    advance = account.pay("2025-06-01", 15_000)
    account.expect(advance, "2025-06-01", on_1100=15_000, on_2100=-15_000)
    refund = refunded(
        account.shop,
        advance,
        amount_cents=9_000,
        method="CASH",
        completed_at="2025-06-10T12:00:00Z",
        document=in_json(),
    )
    account.expect(refund, "2025-06-10", on_2100=9_000, on_2300=-9_000)
    [payment] = refund["refund_payments"]
    account.expect(payment, "2025-06-10", on_2300=9_000, on_1000=-9_000)
    assert refund["allocations"][0]["allocation_type"] == "payment"


def bounced_although_refunded(account: Account, table: Record) -> None:
    """Pay the table by cheque and refund a part of it; then the cheque bounces."""
    shop = account.shop
    cheque = account.pay("2025-05-20", 42_000, part(table, 42_000), payment_method="check")
    account.expect(cheque, "2025-05-20", on_1100=42_000, on_1200=-42_000)
    form = {"invoice_id": table["id"], "amount_cents": "20000"}
    files = {"document": ("letter.pdf", PDF, "application/pdf")}
    refund = checked(shop.api.post("invoices/refunds/", data=form, files=files), 201)
    account.expect(refund, TODAY, on_4100=16_667, on_2200=3_333, on_2300=-20_000)
    first = refund_paid(shop, refund, amount_cents=5_000)
    account.expect(first, TODAY, on_2300=5_000, on_1100=-5_000)
    path = account.trade.of_payment(cheque)
    by_hand = checked(shop.api.patch(path, json={"allocations": []}), 422)
    assert by_hand["error_code"] == "refund_exceeds_refundable"
    bounced = account.change(cheque, status="failed")
    account.expect(cheque, TODAY, on_1100=-42_000, on_1200=42_000)
    assert bounced["applied_invoices"] == []
    assert account.standing(table) == ("overdue", 42_000)


def explained(account: Account) -> None:
    account.explain(owed=42_000, in_advance=6_000, credited=6_000)
    refunds = account.listed("invoices/refunds/")
    to_go_back = sum(each["refunded_amount"] - each["paid_amount"] for each in refunds)
    assert account.held("2300") == to_go_back == 15_000


def documented(account: Account) -> None:
    """Check that each record with a document shows it, and that its link returns the file."""
    hotel = account.get(f"customers/{account.party['id']}/")
    shown = [hotel["documents"][0]]
    for path in ("invoices/", "customer-credits/", "invoices/refunds/"):
        for each in account.listed(path):
            shown.append(account.get(f"{path}{each['id']}/")["document"])
    assert len(shown) == 1 + 3 + 1 + 3
    for document in shown:
        content = follow(account.shop, document["url"]).content
        assert content == KINDS[document["mime_type"]]
        assert len(content) == document["file_size"]
    assert len(account.listed("documents/")) == len(shown)


class TestReceivables:
    def test_every_balance_is_explained_by_the_documents_behind_it(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        account = opened(acme)
        furniture, table, lamps = invoiced(account)
        paid_in_part_and_then_too_much(account, furniture, table)
        credited(account, table, lamps)
        written_off_and_paid_after_all(account, lamps)
        refunded_in_two_payments(account, furniture)
        given_back_what_settled_nothing(account)
        bounced_although_refunded(account, table)

        explained(account)
        documented(account)
        assert account.posted() == account.statements
        account.prove(api_server)
