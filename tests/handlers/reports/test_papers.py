"""Reports and statements as PDF files."""

import pytest

from libraries.pdf_files.tests.papers import Word, pages, texts
from tests.builders.reports import booked, worked_march
from tests.builders.sales import credited, paid, part, sent, share, written_off
from tests.partner import Business, Partner

PROFIT, SHEET = "reports/profit-and-loss/", "reports/balance-sheet/"
MARCH = {"start_date": "2026-03-01", "end_date": "2026-03-31"}
PDF = {"Accept": "application/pdf"}


def paper(shop: Business, path: str, **query: str) -> bytes:
    answer = shop.api.get(path, params=query, headers=PDF)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/pdf"
    return answer.content


def rows(content: bytes) -> list[list[str]]:
    """Return the words of each row, page by page from top to bottom."""
    found = []
    for page in pages(content):
        by_height: dict[float, list[Word]] = {}
        for word in page:
            by_height.setdefault(round(word.y, 1), []).append(word)
        found += [
            [" ".join(word.text.split()) for word in sorted(by_height[y], key=lambda w: w.x)]
            for y in sorted(by_height, reverse=True)
        ]
    return found


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    shop = acme.business(name="Harbour Coffee")
    worked_march(shop)
    return shop


class TestGetProfitAndLoss:
    def test_on_paper_goes_from_revenue_to_the_net_profit(self, shop: Business) -> None:
        found = rows(paper(shop, PROFIT, **MARCH))
        assert ["Period", "Mar 2026"] in found
        assert ["Basis", "Accrual"] in found
        begin = found.index(["Account", "Mar 2026"])
        assert found[begin + 1 : -1] == [
            ["Revenue"],
            ["4000 Sales", "1,000.00"],
            ["Total revenue", "1,000.00"],
            ["Total operating income", "1,000.00"],
            ["Gross profit", "1,000.00"],
            ["Operating expenses"],
            ["6000 General expenses", "50.00"],
            ["Total operating expenses", "50.00"],
            ["Operating profit", "950.00"],
            ["Profit before tax", "950.00"],
            ["Net profit", "950.00"],
        ]

    def test_on_paper_names_its_basis_and_tag(self, shop: Business) -> None:
        found = rows(paper(shop, PROFIT, **MARCH, basis="cash", untagged="true"))
        assert ["Basis", "Cash"] in found
        assert ["Tag", "None"] in found
        named = {"tag": "shop", "known_at": "2026-04-01T09:30:00Z"}
        found = rows(paper(shop, PROFIT, **MARCH, **named))
        assert ["Tag", "shop"] in found
        assert ["As known at", "1 Apr 2026, 09:30:00 UTC"] in found

    def test_on_paper_has_columns_and_what_they_are_compared_with(self, shop: Business) -> None:
        days = {"start_date": "2026-02-01", "end_date": "2026-03-31"}
        content = paper(shop, PROFIT, **days, interval="month", compare_to="previous_period")
        found = rows(content)
        assert ["4000 Sales", "0.00", "1,000.00", "1,000.00", "0.00", "1,000.00"] in found
        assert {"Feb 2026", "Mar 2026", "Total", "Change"} <= set(texts(content))

    def test_on_paper_goes_on_sideways_where_columns_are_many(self, shop: Business) -> None:
        days = {"start_date": "2023-01-10", "end_date": "2026-03-31"}
        found = pages(paper(shop, PROFIT, **days, interval="month"))
        assert len(found) > 2
        for page in found:
            assert max(word.x for word in page) > 210  # The pages are in landscape format.
        named = [w.text for page in found for w in page if w.text == "Account"]
        assert len(named) == len(found)
        assert "Total" in [word.text for word in found[-1]]

    def test_on_paper_in_short_has_sections_alone(self, shop: Business) -> None:
        found = rows(paper(shop, PROFIT, **MARCH, detail_level="summary"))
        assert ["Operating expenses", "50.00"] in found
        assert not [row for row in found if row[0].startswith("6000")]

    def test_on_paper_is_in_the_language_of_the_chart(self, acme: Partner) -> None:
        shop = acme.business(country="DE", entity_type="gmbh", coa_language="de")
        booked(shop, "2026-03-01", "1100", "4000", 123_456)
        found = rows(paper(shop, PROFIT, **MARCH))
        assert ["4000 Umsatzerlöse", "1.234,56"] in found
        assert ["Summe Umsatzerlöse", "1.234,56"] in found
        assert ["Jahresergebnis", "1.234,56"] in found

    @pytest.mark.parametrize(
        ("accept", "kind"),
        [
            ("application/pdf", "application/pdf"),
            ("application/pdf, application/json;q=0.5", "application/pdf"),
            ("application/pdf;q=0.1, text/csv", "text/csv; charset=utf-8"),
            ("image/png", "application/json"),
        ],
    )
    def test_is_a_pdf_for_callers_that_prefer_it(
        self, shop: Business, accept: str, kind: str
    ) -> None:
        answer = shop.api.get(PROFIT, params=MARCH, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert "Accept" in answer.headers.get_list("vary", split_commas=True)

    def test_on_paper_is_named_after_its_days(self, shop: Business) -> None:
        kept = shop.api.get(PROFIT, params=MARCH, headers=PDF).headers["content-disposition"]
        assert kept == 'attachment; filename="profit-and-loss-2026-03-01-2026-03-31.pdf"'


class TestGetBalanceSheet:
    def test_on_paper_goes_from_assets_to_equity(self, shop: Business) -> None:
        found = rows(paper(shop, SHEET, as_of_date="2026-03-31"))
        assert ["As of", "31 Mar 2026"] in found
        begin = found.index(["Account", "31 Mar 2026"])
        assert found[begin + 1 : -1] == [
            ["Non-current assets"],
            ["1600 Fixed assets", "600.00"],
            ["1650 Accumulated depreciation", "-50.00"],
            ["Total non-current assets", "550.00"],
            ["Current assets"],
            ["1100 Business bank account", "900.00"],
            ["1200 Accounts receivable", "700.00"],
            ["Total current assets", "1,600.00"],
            ["Total assets", "2,150.00"],
            ["Current liabilities"],
            ["2200 VAT payable", "200.00"],
            ["Total current liabilities", "200.00"],
            ["Non-current liabilities"],
            ["2500 Loans", "1,000.00"],
            ["Total non-current liabilities", "1,000.00"],
            ["Total liabilities", "1,200.00"],
            ["Net assets", "950.00"],
            ["Retained earnings"],
            ["Profit of the current year", "950.00"],
            ["Total retained earnings", "950.00"],
            ["Total equity", "950.00"],
        ]

    def test_on_paper_is_compared_with_another_day(self, shop: Business) -> None:
        day = {"as_of_date": "2026-03-31", "compare_to": "previous_year"}
        found = rows(paper(shop, SHEET, **day))
        assert ["Compared with", "31 Mar 2025"] in found
        assert ["Total equity", "950.00", "0.00", "950.00"] in found


class TestGetCustomerStatement:
    def test_on_paper_goes_from_what_was_owed_to_what_is(self, acme: Partner) -> None:
        shop = acme.business()
        buyer = shop.customer(company_name="Blue Door Bakery", city="Bristol")
        first = sent(shop, buyer, 5_000)
        second = sent(shop, buyer, 10_000, sent_at="2025-03-04T09:00:00Z")
        credited(shop, buyer, 1_000, share(second, 1_000))
        paid(shop, buyer, 7_500, part(first, 5_000))
        written_off(shop, second, amount_cents=500, write_off_at="2025-03-20T00:00:00Z")
        path = f"customers/{buyer['id']}/statement/"
        days = {"start_date": "2025-03-02", "end_date": "2025-03-31"}
        content = paper(shop, path, **days)
        found = rows(content)
        heading = {"Statement of account", "Customer", "Blue Door Bakery", "Bristol"}
        assert heading <= set(texts(content))
        begin = found.index(["Date", "Details", "Amount", "Balance"])
        assert found[begin + 1 : -1] == [
            ["Opening balance", "50.00"],
            ["4 Mar 2025", "Invoice INV-000002", "100.00", "150.00"],
            ["5 Mar 2025", "Credit INV-000002", "-10.00", "140.00"],
            ["10 Mar 2025", "Payment INV-000001", "-50.00", "90.00"],
            ["20 Mar 2025", "Write-off INV-000002", "-5.00", "85.00"],
            ["Closing balance", "85.00"],
            ["Not applied yet", "25.00"],
        ]
        kept = shop.api.get(path, params=days, headers=PDF).headers["content-disposition"]
        assert kept == 'attachment; filename="customer-statement-2025-03-02-2025-03-31.pdf"'

    def test_of_a_vendor_is_no_paper(self, shop: Business) -> None:
        vendor = shop.vendor()
        answer = shop.api.get(f"vendors/{vendor['id']}/statement/", headers=PDF)
        assert answer.headers["content-type"] == "application/json"
