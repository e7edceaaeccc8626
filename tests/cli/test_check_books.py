from tests.cli.desk import Desk
from tests.house import House
from tests.persistence.auditing import tamper


class TestCheckBooks:
    def test_proves_every_business_and_names_each_fault(self, desk: Desk, premises: House) -> None:
        first = premises.partner("First").business(name="Sound Ltd")
        second = premises.partner("Second").business(name="Spoilt Ltd")
        for business in (first, second):
            customer = business.customer()
            invoice = business.invoice(customer)
            share = {"invoice_id": invoice["id"], "amount_cents": 2_500}
            business.payment(customer, 3_000, allocations=[share])

        told = desk.did("check-books")
        assert told.out.startswith("The books of 2 businesses hold (")
        assert told.err == ""

        statement = "UPDATE journal_entry SET sequence_number = %s WHERE business_id = %s"
        tamper(premises, f"{statement} AND source_type = 'payment'", "JE-2026-000007", second.id)
        told = desk.run("check-books")
        assert told.code == 1
        assert f"Spoilt Ltd ({second.id}) of Second ({second.partner.partner_id})" in told.out
        assert "  entry_numbers: JE-2026-000002 (of 3 checked)\n" in told.out
        assert told.out.endswith("The books of 1 of 2 businesses do not hold.\n")
        assert "Sound Ltd" not in told.out
