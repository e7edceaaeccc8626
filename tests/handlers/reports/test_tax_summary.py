"""get_vat_summary: tax by code of some days, beside what a return of them would say."""

from tests.builders.journal_entries import marked, taxed
from tests.builders.reports import report, worked_march
from tests.builders.trade import Record
from tests.partner import Business, Partner

VAT = "reports/vat-summary"
MARCH = {"start_date": "2026-03-01", "end_date": "2026-03-31"}


def boxes(found: Record) -> dict[str, int]:
    return {each["box"]: each["amount_cents"] for each in found["return_preview"]["boxes"]}


def filed(shop: Business) -> None:
    draft = shop.made("tax-returns/", {**MARCH, "scheme": "accrual"})
    answer = shop.api.post(f"tax-returns/{draft['id']}/file/")
    assert answer.status_code == 200, answer.text


class TestGetVatSummary:
    def test_it_says_what_a_draft_would_say(self, acme: Partner) -> None:
        shop = acme.business()
        worked_march(shop)
        taxed(
            shop,
            "2026-03-02",
            marked("6000", 300, "P20", "net"),
            marked("1300", 60, "P20", "input"),
        )
        for scheme, due in (("accrual", 20_000 - 60), ("cash", 8_333 - 60)):
            found = report(shop, VAT, **MARCH, basis=scheme)
            draft = shop.made("tax-returns/", {**MARCH, "scheme": scheme})
            preview = found["return_preview"]
            for name in ("boxes", "tax_due_cents", "codes", "late"):
                assert preview[name] == draft[name], name
            for name in ("tax_due_cents", "codes", "uncoded", "withheld_by_customers_cents"):
                assert found[name] == draft[name], name
            assert found["tax_due_cents"] == due

    def test_what_is_filed_is_in_the_summary_and_in_no_other_return(self, acme: Partner) -> None:
        shop = acme.business()
        worked_march(shop)
        filed(shop)
        sale = (marked("4000", -500, "S20", "net"), marked("2200", -100, "S20", "output"))
        taxed(shop, "2026-03-30", *sale)
        found = report(shop, VAT, **MARCH)
        [code] = found["codes"]
        assert (code["net_cents"], code["output_cents"]) == (100_500, 20_100)
        assert (boxes(found)["1"], found["return_preview"]["tax_due_cents"]) == (100, 100)
        april = report(shop, VAT, start_date="2026-04-01", end_date="2026-04-30")
        assert (april["codes"], april["tax_due_cents"]) == ([], 0)
        [late] = april["return_preview"]["late"]
        assert late["output_cents"] == 100

    def test_tax_without_a_code_is_told(self, acme: Partner) -> None:
        shop = acme.business()
        lines = [{"account": "1300", "debit_amount": 40}, {"account": "1100", "credit_amount": 40}]
        body = {"entry_date": "2026-03-05", "lines": lines, "post": True}
        shop.made("general-ledger/journal-entries/", body)
        [told] = report(shop, VAT, **MARCH)["uncoded"]
        assert (told["account_code"], told["amount_cents"]) == ("1300", 40)
