"""get_vat_summary: tax by code in a period, and a preview of its return."""

from datetime import datetime, timedelta
from typing import Any

from tests.builders.journal_entries import marked, taxed
from tests.builders.reports import booked, report, worked_march
from tests.builders.sales import paid, part
from tests.builders.tax_codes import CODES, code_body
from tests.builders.tax_returns import explain_themselves
from tests.builders.tax_returns import filed as file_return
from tests.builders.trade import Record
from tests.partner import Business, Partner

VAT = "reports/vat-summary"
SALE = (marked("4000", -500, "S20", "net"), marked("2200", -100, "S20", "output"))
MARCH = {"start_date": "2026-03-01", "end_date": "2026-03-31"}


def boxes(found: Record) -> dict[str, int]:
    return {each["box"]: each["amount_cents"] for each in found["return_preview"]["boxes"]}


def without_explain(value: Any) -> Any:
    """Return a report without the addresses that explain its figures."""
    if isinstance(value, list):
        return [without_explain(each) for each in value]
    if isinstance(value, dict):
        return {key: without_explain(each) for key, each in value.items() if key != "explain"}
    return value


def filed(shop: Business, scheme: str = "accrual") -> Record:
    """Create and file a return of March."""
    return file_return(shop, shop.made("tax-returns/", {**MARCH, "scheme": scheme}))


class TestGetVatSummary:
    def test_the_summary_has_the_figures_of_a_draft_return(self, acme: Partner) -> None:
        shop = acme.business()
        worked_march(shop)
        purchase = (marked("6000", 300, "P20", "net"), marked("1300", 60, "P20", "input"))
        taxed(shop, "2026-03-02", *purchase)
        for scheme, due in (("accrual", 20_000 - 60), ("cash", 8_333 - 60)):
            found = report(shop, VAT, **MARCH, basis=scheme)
            draft = shop.made("tax-returns/", {**MARCH, "scheme": scheme})
            preview = found["return_preview"]
            for name in ("boxes", "tax_due_cents", "codes", "late"):
                assert without_explain(preview[name]) == without_explain(draft[name]), name
            for name in ("tax_due_cents", "codes", "uncoded", "withheld_by_customers_cents"):
                assert without_explain(found[name]) == without_explain(draft[name]), name
            for each in (found, preview, draft):
                explain_themselves(shop, each)
            assert found["tax_due_cents"] == due

    def test_filed_entries_are_in_the_summary_and_in_no_other_return(self, acme: Partner) -> None:
        shop = acme.business()
        worked_march(shop)
        filed(shop)
        taxed(shop, "2026-03-30", *SALE)
        found = report(shop, VAT, **MARCH)
        [code] = found["codes"]
        assert (code["net_cents"], code["output_cents"]) == (100_500, 20_100)
        assert (boxes(found)["1"], found["return_preview"]["tax_due_cents"]) == (100, 100)
        april = report(shop, VAT, start_date="2026-04-01", end_date="2026-04-30")
        assert (april["codes"], april["tax_due_cents"]) == ([], 0)
        [late] = april["return_preview"]["late"]
        assert late["output_cents"] == 100
        for each in (found, found["return_preview"], april, april["return_preview"]):
            explain_themselves(shop, each)

    def test_tax_without_a_code_is_reported(self, acme: Partner) -> None:
        shop = acme.business()
        booked(shop, "2026-03-05", "1300", "1100", 40)
        [uncoded] = report(shop, VAT, **MARCH)["uncoded"]
        assert (uncoded["account_code"], uncoded["amount_cents"]) == ("1300", 40)


class TestListVatSummaryEntries:
    def test_rates_of_one_code_lead_to_their_own_lines(self, acme: Partner) -> None:
        shop = acme.business()
        changed = [{"rate": 9, "valid_to": "2026-03-15"}, {"rate": 9.5, "valid_from": "2026-03-16"}]
        shop.made(CODES, code_body("RISING", rates=changed))
        for on, net, tax in (("2026-03-15", 1_000, 90), ("2026-03-16", 200, 19)):
            sale = (marked("4000", -net, "RISING", "net"), marked("2200", -tax, "RISING", "output"))
            taxed(shop, on, *sale)
        found = report(shop, VAT, **MARCH)
        shown = [(each["tax_rate"], each["output_cents"]) for each in found["codes"]]
        assert shown == [(9, 90), (9.5, 19)]
        explain_themselves(shop, found)
        for basis, rate, lines in (("accrual", 9.5, 2), ("cash", 9, 2), ("accrual", 9.25, 0)):
            asked = {**MARCH, "basis": basis, "tax_code": "RISING", "tax_rate": rate}
            assert report(shop, f"{VAT}/entries", **asked)["count"] == lines

    def test_filed_entries_are_listed_except_for_a_return_preview(self, acme: Partner) -> None:
        shop = acme.business()
        worked_march(shop)
        listed = report(shop, f"{VAT}/entries", **MARCH)
        assert listed["count"] == 2
        assert report(shop, f"{VAT}/entries", **MARCH, return_preview=True) == listed
        filed(shop)
        assert report(shop, f"{VAT}/entries", **MARCH) == listed
        asked = {**MARCH, "return_preview": True}
        assert report(shop, f"{VAT}/entries", **asked)["count"] == 0
        before = {**asked, "known_at": listed["results"][0]["created_at"]}
        assert report(shop, f"{VAT}/entries", **before)["results"] == listed["results"]


class TestKnownAt:
    def test_the_summary_of_an_earlier_time_is_unchanged(self, acme: Partner) -> None:
        shop = acme.business()
        worked_march(shop)
        said = {basis: report(shop, VAT, **MARCH, basis=basis) for basis in ("accrual", "cash")}
        last = shop.api.get("general-ledger/journal-entries/").json()["results"]
        seen = max(each["posted_at"] for each in last)
        taxed(shop, "2026-03-30", *SALE)
        booked(shop, "2026-03-05", "1300", "1100", 40)
        for basis, then in said.items():
            assert report(shop, VAT, **MARCH, basis=basis) != then
            found = report(shop, VAT, **MARCH, basis=basis, known_at=seen)
            assert without_explain(found) == without_explain({**then, "known_at": seen})
            explain_themselves(shop, found)
            explain_themselves(shop, found["return_preview"])

    def test_a_later_filing_does_not_count_at_an_earlier_time(self, acme: Partner) -> None:
        shop = acme.business()
        worked_march(shop)
        drawn_up = report(shop, VAT, **MARCH)["return_preview"]
        first = filed(shop)
        late = taxed(shop, "2026-03-30", *SALE)
        body = {"reason": "Forgotten"}
        draft = shop.made(f"tax-returns/{first['id']}/supersede/", body)
        second = file_return(shop, draft)

        def preview(moment: str) -> Record:
            found: Record = report(shop, VAT, **MARCH, known_at=moment)["return_preview"]
            return found

        before = preview(opening_of(first["filed_at"]))
        assert without_explain(before) == without_explain(drawn_up)
        assert preview(first["filed_at"])["tax_due_cents"] == 0
        assert preview(late["posted_at"])["tax_due_cents"] == 100
        assert preview(second["filed_at"])["tax_due_cents"] == 0

    def test_a_transition_counts_as_of_the_earlier_time(self, acme: Partner) -> None:
        shop = acme.business()
        invoice, payment = worked_march(shop)
        done = filed(shop, "cash")
        april = {"start_date": "2026-04-01", "end_date": "2026-04-30", "basis": "accrual"}
        then = report(shop, VAT, **april)
        assert then["return_preview"]["tax_due_cents"] == 20_000 - 8_333
        buyer = {"id": payment["customer_id"]}
        paid(shop, buyer, 10_000, part(invoice, 10_000), payment_date="2026-03-25")
        [code] = report(shop, VAT, **april)["return_preview"]["transition"]
        assert code["output_cents"] < 20_000 - 8_333
        found = report(shop, VAT, **april, known_at=done["filed_at"])
        assert without_explain(found) == without_explain({**then, "known_at": done["filed_at"]})
        explain_themselves(shop, found["return_preview"])


def opening_of(moment: str) -> str:
    """Return the preceding microsecond."""
    return (datetime.fromisoformat(moment) - timedelta(microseconds=1)).isoformat()
