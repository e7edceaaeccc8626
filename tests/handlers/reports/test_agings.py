"""Agings, counts and statements: open amounts of parties by age, worked by hand."""

import pytest

from tests.builders.reports import refused, report, table
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.partner import Business, Partner

AS_OF = "2025-06-30"
BUCKETS = ("current", "days_1_30", "days_31_60", "days_61_90", "over_90_days")
DUE = {
    # The due dates around each end of a bucket, and an open amount of each.
    None: 1,
    "2025-07-15": 2,
    "2025-06-30": 4,
    "2025-06-29": 8,
    "2025-05-31": 16,
    "2025-05-30": 32,
    "2025-05-01": 64,
    "2025-04-30": 128,
    "2025-04-01": 256,
    "2025-03-31": 512,
    "2025-03-01": 1_024,
}
EXPECTED = (7, 24, 96, 384, 1_536)
PAYMENT_SOURCES = {"invoice": "payment", "bill": "bill_payment"}


class Aging:
    trade: Trade
    path: str

    @pytest.fixture(scope="class")
    @classmethod
    def books(cls, acme: Partner) -> Business:
        """A party with a document of each age, and one with a prepayment and a credit."""
        trade, shop = cls.trade, acme.business()
        late, early = (trade.somebody(shop, company_name=name) for name in ("Late", "Early"))
        for due, amount in DUE.items():
            facts = {} if due is None else {"due_at": f"{due}T23:59:59Z"}
            trade.open(shop, late, amount, **facts)
        document = trade.open(shop, early, 5_000, due_at="2025-06-20T00:00:00Z")
        trade.pay(shop, early, 4_000, trade.part(document, 4_000), payment_date="2025-06-30")
        trade.pay(shop, early, 300, payment_date="2025-06-30")
        trade.pay(shop, early, 99, payment_date="2025-07-01")
        trade.credit(shop, early, 50)
        trade.write_off(shop, document, amount_cents=10, write_off_at="2025-07-01T00:00:00Z")
        return shop

    def rows(self, shown: Record) -> list[Record]:
        rows: list[Record] = shown[f"{self.trade.party}s"]
        return rows

    def test_days_count_from_the_due_date_and_the_largest_comes_first(
        self, trade: Trade, books: Business
    ) -> None:
        shown = report(books, self.path, as_of_date=AS_OF)
        late, early = self.rows(shown)
        assert (late[f"{trade.party}_name"], early[f"{trade.party}_name"]) == ("Late", "Early")
        assert tuple(late["aging_buckets"][name] for name in BUCKETS) == EXPECTED
        assert tuple(early["aging_buckets"][name] for name in BUCKETS) == (0, 1_000, 0, 0, 0)
        assert late["total_outstanding_cents"] == sum(DUE.values())
        assert shown["total_outstanding_cents"] == sum(DUE.values()) + 1_000
        assert (shown["as_of_date"], shown["basis"], shown["currency"]) == (AS_OF, "accrual", "GBP")

    def test_unapplied_amounts_are_reported_separately(self, books: Business) -> None:
        shown = report(books, self.path, as_of_date=AS_OF)
        assert [row["unapplied_cents"] for row in self.rows(shown)] == [0, 350]
        assert shown["unapplied_cents"] == 350
        assert report(books, self.path)["unapplied_cents"] == 449

    def test_buckets_have_two_names_for_equal_numbers(self, books: Business) -> None:
        shown = report(books, self.path, as_of_date=AS_OF)
        for buckets in (shown["total_aging_buckets"], self.rows(shown)[0]["aging_buckets"]):
            for days in ("1_30", "31_60", "61_90"):
                assert buckets[f"days_{days}"] == buckets[f"{days}_days"] > 0

    def test_later_postings_do_not_count(self, books: Business) -> None:
        day_before = report(books, self.path, as_of_date="2025-06-29")
        early = self.rows(day_before)[0]
        assert (early["total_outstanding_cents"], early["unapplied_cents"]) == (5_000, 50)
        assert report(books, self.path, as_of_date="2024-12-31")["total_outstanding_cents"] == 0
        assert self.rows(report(books, self.path, as_of_date="2024-12-31")) == []
        assert report(books, self.path)["total_outstanding_cents"] == sum(DUE.values()) + 990

    def test_the_total_alone_names_nobody(self, books: Business) -> None:
        whole = report(books, self.path, as_of_date=AS_OF)
        shown = report(books, self.path, as_of_date=AS_OF, group_by="total")
        assert shown == {**whole, "group_by": "total", f"{self.trade.party}s": []}

    def test_the_report_is_available_as_a_table(self, trade: Trade, books: Business) -> None:
        late, early, total = table(books, self.path, as_of_date=AS_OF)
        assert [each["row"] for each in (late, early, total)] == ["line", "line", "total"]
        assert late[f"{trade.party}_name"] == "Late"
        assert tuple(int(late[f"{name}_cents"]) for name in BUCKETS) == EXPECTED
        assert (early["total_outstanding_cents"], early["unapplied_cents"]) == ("1000", "350")
        assert total["total_outstanding_cents"] == str(sum(DUE.values()) + 1_000)
        [only] = table(books, self.path, as_of_date=AS_OF, group_by="total")
        assert only == total

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ({"as_of_date": "2025-02-30"}, "as_of_date"),
            ({"group_by": "month"}, "group_by"),
            ({"basis": "cash"}, "basis"),
        ],
    )
    def test_an_unknown_parameter_or_value_is_400(
        self, books: Business, query: Record, field: str
    ) -> None:
        assert list(refused(books, self.path, **query)) == [field]


class TestGetReceivableAging(Aging):
    trade, path = SALES, "insights/ar-aging"


class TestGetPayableAging(Aging):
    trade, path = PURCHASES, "insights/ap-aging"


class Stats:
    trade: Trade
    path: str

    def test_documents_are_counted_by_status(self, trade: Trade, acme: Partner) -> None:
        shop = acme.business()
        party = trade.somebody(shop)
        shop.made(trade.path, trade.body(party))
        paid = trade.open(shop, party)
        trade.pay(shop, party, 1_000, trade.part(paid, 1_000))
        part_paid = trade.open(shop, party)
        trade.pay(shop, party, 400, trade.part(part_paid, 400))
        given_up = trade.open(shop, party)
        trade.write_off(shop, given_up, amount_cents=100)
        trade.write_off(shop, trade.open(shop, party))
        void = trade.open(shop, party)
        assert shop.api.post(trade.of(void, "void"), json={}).status_code == 200
        trade.credit(shop, party, 50)
        trade.credit(shop, party, 50, trade.share(part_paid, 20))
        trade.credit(shop, party, 30, trade.share(part_paid, 30))
        shop.made(trade.credits, trade.credit_body(party))
        shown = report(shop, self.path)
        assert shown[f"{trade.noun}s"] == {
            "all": 6,
            "unpaid": 2,
            "paid": 1,
            "outstanding_cents": 550 + 900,
        }
        credits_ = {"all": 4, "draft": 1, "sent": 1, "applied": 1, "partially_applied": 1}
        assert shown[f"{trade.credit_noun}s"] == (
            {**credits_, "void": 0} if trade is SALES else {"all": 4, "unapplied": 2, "applied": 1}
        )

    def test_stats_of_an_empty_business_are_zero(self, acme: Partner) -> None:
        shown = report(acme.business(), self.path)
        counts = [each for each in shown.values() if isinstance(each, dict)]
        assert {value for each in counts for value in each.values()} == {0}


class TestGetReceivableStats(Stats):
    trade, path = SALES, "ar/stats"


class TestGetPayableStats(Stats):
    trade, path = PURCHASES, "ap/stats"


class Statement:
    trade: Trade

    @pytest.fixture(scope="class")
    @classmethod
    def story(cls, acme: Partner) -> tuple[Business, str, Record]:
        """A document of 1,000 in March, paid in part in April and written off in May."""
        trade, shop = cls.trade, acme.business()
        party = trade.somebody(shop, company_name="Blue Door")
        trade.open(shop, trade.somebody(shop), 77)
        document = trade.open(shop, party, 1_000)
        trade.pay(shop, party, 500, trade.part(document, 400), payment_date="2025-04-10")
        trade.write_off(shop, document, amount_cents=100, write_off_at="2025-05-05T00:00:00Z")
        return shop, f"{trade.parties}{party['id']}/statement", document

    def test_each_line_is_followed_by_what_is_open_after_it(
        self, trade: Trade, story: tuple[Business, str, Record]
    ) -> None:
        shop, path, document = story
        shown = report(shop, path, start_date="2025-04-01", end_date="2025-05-31")
        assert (shown["opening_balance_cents"], shown["closing_balance_cents"]) == (1_000, 500)
        assert shown["unapplied_cents"] == 100
        assert [
            (line["entry_date"], line["source_type"], line["amount_cents"], line["balance_cents"])
            for line in shown["lines"]
        ] == [
            ("2025-04-10", PAYMENT_SOURCES[trade.noun], -400, 600),
            ("2025-05-05", trade.write_off_source, -100, 500),
        ]
        assert {line[f"{trade.noun}_id"] for line in shown["lines"]} == {document["id"]}
        assert {line[trade.number] for line in shown["lines"]} == {document[trade.number]}
        assert shown[trade.party]["display_name"] == "Blue Door"
        first = report(shop, path, end_date="2025-03-31")
        assert (first["start_date"], first["opening_balance_cents"]) == (None, 0)
        assert [line["amount_cents"] for line in first["lines"]] == [1_000]
        assert first["unapplied_cents"] == 0

    def test_the_statement_is_available_as_a_table(
        self, trade: Trade, story: tuple[Business, str, Record]
    ) -> None:
        shop, path, document = story
        rows = table(shop, path, start_date="2025-04-01", end_date="2025-05-31")
        assert [(each["row"], each["amount_cents"], each["balance_cents"]) for each in rows] == [
            ("opening", "", "1000"),
            ("line", "-400", "600"),
            ("line", "-100", "500"),
            ("closing", "", "500"),
            ("unapplied", "", "100"),
        ]
        assert rows[1][trade.number] == document[trade.number]

    def test_a_period_that_ends_before_it_starts_is_refused(
        self, story: tuple[Business, str, Record]
    ) -> None:
        shop, path, _ = story
        backwards = {"start_date": "2025-04-02", "end_date": "2025-04-01"}
        assert list(refused(shop, path, **backwards)) == ["end_date"]


class TestGetCustomerStatement(Statement):
    trade = SALES


class TestGetVendorStatement(Statement):
    trade = PURCHASES
