"""The scripts of the page for people, without a page."""

import base64
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from uuid import UUID

import pytest

from handlers.shared.links import document_address
from tests.contract.document import document
from tests.server.docs import node

FOLDER = files("server.docs.app_page")
# Reads calls of functions by module, name and arguments; writes the result of each.
ASK = """
import { readFileSync } from "node:fs";
const returned = [];
for (const [module, name, ...given] of JSON.parse(readFileSync(0))) {
  returned.push((await import(`${FOLDER}/${module}.js`))[name](...given) ?? null);
}
console.log(JSON.stringify(returned));
"""
# Opens books whose server is `answer`, writes down what is requested, and runs `steps`.
ASK_BOOKS = """
import { readFileSync } from "node:fs";
const { token, business } = JSON.parse(readFileSync(0));
const requests = [];
globalThis.location = new URL("https://books.example/app/");
globalThis.fetch = async (address, { headers, method = "GET" }) => {
  requests.push([method, address.replace(business, "b"), headers.Accept]);
  return address.includes("missing")
    ? Response.json({ message: "No.", request_id: "r1" }, { status: 404 })
    : new Response("{}", { headers: { "Content-Disposition": 'attachment; filename="a b.csv"' } });
};
const { Books } = await import(`${FOLDER}/books.js`);
const books = new Books(() => {});
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));
books.open(token);
%s
clearTimeout(books.timer);
console.log(JSON.stringify([requests, returned]));
"""
# Writes the texts of a view, in books in pounds whose answers are given by path.
ASK_VIEW = """
import { readFileSync } from "node:fs";
const { place, answers } = JSON.parse(readFileSync(0));
globalThis.location = new URL("https://books.example/app/");
const { formatsOf } = await import(`${FOLDER}/formats.js`);
const { openDocuments } = await import(`${FOLDER}/views/documents.js`);
const { entry } = await import(`${FOLDER}/views/entries.js`);
const { listView } = await import(`${FOLDER}/views/lists.js`);
const { recordView } = await import(`${FOLDER}/views/records.js`);
const page = {
  place, formats: formatsOf("en-GB", "GBP", "UTC"), to: () => "#",
  say: (word) => word, knows: () => false,
  books: { home: "/b/", saved: new Map(), read: (path) => ({ value: answers[path] }) },
};
const textsOf = (node) => {
  if (Array.isArray(node)) return node.flatMap(textsOf);
  if (typeof node === "object" && node) return textsOf(node.props.children);
  return ["string", "number"].includes(typeof node) ? [String(node).replaceAll("\u00a0", " ")] : [];
};
console.log(JSON.stringify(textsOf((%s)(page))));
"""
TODAY = "2026-11-24"
TO_DECEMBER = "2000-12-31"
ID, HOLDER = "0197f0c8-62f4-7b9c-9d37-1a2b3c4d5e04", "0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a03"
BUSINESS = UUID("0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02")
HOME = f"/v1/platform/businesses/{BUSINESS}/"
RECORDS = {"customer": f"{HOME}customers/{ID}/", "vendor": f"{HOME}vendors/{ID}/"}
# The kinds of records that post; a transfer is shown by its bank lines.
SOURCES = [
    name
    for name in document()["components"]["schemas"]["JournalSourceType"]["enum"]
    if name != "bank_transfer"
]


def returned(module: str, name: str, *given: list[Any]) -> Any:
    code = f"const FOLDER = {json.dumps(f'file://{FOLDER}')};{ASK}"
    return node.run(code, [[module, name, *each] for each in given], "--input-type=module")


def asked(steps: str) -> Any:
    code = f"const FOLDER = {json.dumps(f'file://{FOLDER}')};{ASK_BOOKS % steps}"
    claims = {"business_id": str(BUSINESS), "exp": 4102444800, "scope": "business_access_read"}
    given = {"token": token(claims), "business": str(BUSINESS)}
    return node.run(code, given, "--input-type=module")


def texts(shown: str, answers: dict[str, Any], **place: str) -> list[str]:
    code = f"const FOLDER = {json.dumps(f'file://{FOLDER}')};{ASK_VIEW % shown}"
    found = node.run(code, {"place": place, "answers": answers}, "--input-type=module")
    return [text for text in found if text]


def listed(view: str, path: str, *records: dict[str, Any]) -> list[str]:
    """Return the texts of a list that has these records."""
    return texts(view, {path: {"results": records, "page_info": {"total_count": len(records)}}})


def token(claims: Any) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"e30.{payload}.c2ln"


def spans(today: str, year_end: str, *periods: str) -> list[str]:
    asked = [[{"period": period}, today, year_end] for period in periods]
    return [f"{each['from']} {each['to']}" for each in returned("periods", "spanOf", *asked)]


pytestmark = node.needs_node


class TestToken:
    def test_a_business_token_names_its_business_and_its_end(self) -> None:
        claims = {"business_id": "b~ü?", "exp": 1795600000}
        found = returned(
            "token",
            "claimsOf",
            [token({**claims, "scope": "business_access", "sub": "p"})],
            [token({**claims, "scope": "business_access_read", "sub": "p"})],
            [token({**claims, "scope": "another", "sub": "p"})],
            [token({"sub": "p", "type": "partner", "exp": 1795600000})],
            [token(["b"])],
            ["no token"],
            [""],
        )
        assert found[0]["exp"] == found[1]["exp"] == claims["exp"]
        assert found[2:] == [None, None, None, None, None]


class TestAddress:
    def test_a_token_is_read_apart_from_the_place(self) -> None:
        [found] = returned("address", "read", ["#token=a.b.c&view=bank&basis=cash"])
        assert found["token"] == "a.b.c"
        assert (found["place"]["view"], found["place"]["basis"]) == ("bank", "cash")
        assert "token" not in found["place"]

    def test_an_unknown_part_of_an_address_is_ignored(self) -> None:
        hostile = (
            "#view=constructor&basis=x&from=1&of=//elsewhere.example&language=<b>&__proto__=a"
            "&id=../../invoices&in=x&find=%20"
        )
        [found, bare] = returned("address", "read", [hostile], [""])
        assert found == bare

    def test_a_written_address_is_read_as_the_same_place(self) -> None:
        place = {"view": "lines", "period": "own", "from": "2026-01-01", "to": "2026-01-31"}
        place |= {"basis": "cash", "compare": "none", "of": "/v1/platform/businesses/b/x/?a=1&b=2"}
        [written] = returned("address", "written", [place])
        assert returned("address", "read", [written]) == [{"place": place}]

    def test_a_change_of_view_keeps_period_and_basis_and_drops_the_object(self) -> None:
        place = {"view": "entry", "of": "/v1/", "basis": "cash", "period": "this-year"}
        place |= {"id": ID, "in": ID, "find": "x"}
        found = returned(
            "address", "moved", [place, {"view": "bank"}], [place, {"basis": "accrual"}]
        )
        assert found[0] == {"view": "bank", "basis": "cash", "period": "this-year"}
        assert found[1] == {**place, "basis": "accrual"}


class TestBooks:
    def test_refreshing_asks_for_what_is_shown_and_forgets_the_rest(self) -> None:
        steps = """
          books.read("invoices/"); books.read("bills/"); await settled();
          books.seen.clear(); books.read("bills/"); requests.length = 0;
          books.refresh(); await settled();
          const returned = [...books.answers.keys()].length;
        """
        home = "/v1/platform/businesses/b/"
        assert asked(steps) == [[["GET", f"{home}bills/", "application/json"]], 1]

    def test_a_file_is_asked_for_by_its_type_and_keeps_its_name(self) -> None:
        steps = """
          const { address, name } = await books.file("reports/x/?a=1", "text/csv");
          const returned = [address.slice(0, 5), name];
        """
        [[request], returned] = asked(steps)
        assert request == ["GET", "/v1/platform/businesses/b/reports/x/?a=1", "text/csv"]
        assert returned == ["blob:", "a b.csv"]

    def test_a_refused_file_says_why(self) -> None:
        steps = """
          const returned = await books.file("missing/", "text/csv").catch(({ problem }) => problem);
        """
        assert asked(steps)[1] == {"status": 404, "message": "No.", "id": "r1"}


class TestPlaces:
    def test_a_record_of_the_api_has_a_view_with_its_id(self) -> None:
        addresses = {
            source: RECORDS.get(source)
            or document_address(BUSINESS, source, UUID(ID), UUID(HOLDER))
            for source in (*SOURCES, *RECORDS)
        }
        assert None not in addresses.values()
        places = returned("places", "placeOf", *[[each] for each in addresses.values()])
        shown = [[each["view"], each["id"], each.get("in")] for each in places]
        paths = [HOME + path for path in returned("places", "pathOf", *shown)]
        assert dict(zip(addresses, paths, strict=True)) == addresses
        views = {each["view"] for each in places}
        assert returned("places", "isRecord", *[[view] for view in views]) == [True] * len(views)

    def test_the_lists_behind_figures_have_views(self) -> None:
        accounts = f"{HOME}general-ledger/chart-of-accounts/{ID}/entries/?basis=cash"
        boxes = f"{HOME}reports/vat-summary/entries/?box=1"
        declared = f"{HOME}tax-returns/{ID}/entries/?box=1"
        aging = f"{HOME}invoices/?customer_id={ID}"
        events = f"{HOME}events/?after=50&page_size=50"
        addresses = (accounts, boxes, declared, aging, events)
        views = ["lines", "tax-lines", "tax-lines", "invoices", "events"]
        assert returned("places", "placeOf", *[[each] for each in addresses]) == [
            {"view": view, "of": address} for view, address in zip(views, addresses, strict=True)
        ]
        profit = f"{HOME}reports/profit-and-loss/?start_date=2026-01-01&end_date=2026-01-31"
        [place] = returned("places", "placeOf", [profit])
        assert (place["view"], place["from"], place["to"]) == (
            "profit-and-loss",
            "2026-01-01",
            "2026-01-31",
        )

    def test_what_no_view_shows_has_no_place(self) -> None:
        others = ["", "/", HOME, f"{HOME}sandboxes/", f"{HOME}invoices/x/", f"/elsewhere/{HOME}"]
        assert returned("places", "placeOf", *[[each] for each in others]) == [None] * len(others)


class TestEvents:
    @pytest.mark.parametrize("language", ["de", "en", "es", "fr", "nl"])
    def test_each_type_of_the_contract_has_words(self, language: str) -> None:
        words = json.loads((FOLDER / "words" / f"{language}.json").read_text("utf-8"))
        code = (
            f"const FOLDER = {json.dumps(f'file://{FOLDER}')};"
            + """
          import { readFileSync } from "node:fs";
          const { words, types } = JSON.parse(readFileSync(0));
          const { partsOf } = await import(`${FOLDER}/views/events.js`);
          const page = { knows: (name) => Object.hasOwn(words, name) };
          console.log(JSON.stringify(types.map((each) => partsOf(page, each))));
        """
        )
        types = document()["components"]["schemas"]["EventType"]["enum"]
        found = node.run(code, {"words": words, "types": types}, "--input-type=module")
        assert [type for type, each in zip(types, found, strict=True) if "word" not in each] == []
        kinds = {each["kind"] for each in found}
        assert {kind for kind in kinds if not {kind, f"source.{kind}"} & words.keys()} == set()
        said = dict(zip(types, found, strict=True))
        assert said["invoice_payment.completed"] == {"kind": "payment", "word": "status.completed"}
        assert said["journal_entry.posted"] == {"kind": "entry", "word": "event.posted"}

    def test_older_and_newer_events_join_without_gaps_or_repeats(self) -> None:
        page = {"books": {"home": HOME}}
        newest = {"last_sequence": 130, "head_sequence": 130}
        middle = {"last_sequence": 80, "head_sequence": 130}
        oldest = {"last_sequence": 30, "head_sequence": 130}
        found = returned(
            "views/events", "around", [page, newest, 80], [page, middle, 30], [page, oldest, 0]
        )
        after_80, after_30, first = (
            f"{HOME}events/?after={after}&page_size={size}"
            for after, size in ((80, 50), (30, 50), (0, 30))
        )
        assert found == [
            {"previous": False, "next": after_30},
            {"previous": after_80, "next": first},
            {"previous": after_30, "next": False},
        ]


class TestPeriods:
    def test_a_current_period_ends_today(self) -> None:
        names = ("twelve-months", "this-month", "this-quarter", "this-year")
        starts = ["2025-12-01", "2026-11-01", "2026-10-01", "2026-01-01"]
        assert spans(TODAY, TO_DECEMBER, *names) == [f"{start} {TODAY}" for start in starts]

    def test_a_past_period_is_whole(self) -> None:
        assert spans(TODAY, TO_DECEMBER, "last-month", "last-quarter", "last-year") == [
            "2026-10-01 2026-10-31",
            "2026-07-01 2026-09-30",
            "2025-01-01 2025-12-31",
        ]

    def test_years_and_quarters_are_those_of_the_business(self) -> None:
        assert spans("2026-02-10", "2000-03-31", "this-quarter", "last-quarter", "last-year") == [
            "2026-01-01 2026-02-10",
            "2025-10-01 2025-12-31",
            "2024-04-01 2025-03-31",
        ]
        # Tax years in Great Britain end on the fifth of April.
        assert spans("2026-04-06", "2000-04-05", "this-year", "last-year", "last-quarter") == [
            "2026-04-06 2026-04-06",
            "2025-04-06 2026-04-05",
            "2026-01-06 2026-04-05",
        ]

    def test_a_year_that_ends_with_february_ends_with_it_in_leap_years_too(self) -> None:
        assert spans("2028-05-01", "2000-02-29", "last-year") == ["2027-03-01 2028-02-29"]
        assert spans("2027-05-01", "2000-02-29", "last-year") == ["2026-03-01 2027-02-28"]

    def test_days_of_ones_own_are_never_the_wrong_way_round(self) -> None:
        own = {"period": "own", "from": "2026-03-02", "to": "2026-03-01"}
        [found] = returned("periods", "spanOf", [own, TODAY, TO_DECEMBER])
        assert found == {"from": "2026-03-02", "to": "2026-03-02"}


class TestFormats:
    def test_minor_units_keep_every_digit(self) -> None:
        asked = [[0, 2], [-5, 2], [123456, 2], [9007199254740991, 2], [1500, 0], [-1500, 3]]
        assert returned("formats", "decimal", *asked) == [
            "0.00", "-0.05", "1234.56", "90071992547409.91", "1500", "-1.500",
        ]  # fmt: skip

    def test_a_moment_has_the_day_that_it_is_at_the_business(self) -> None:
        code = (
            f"const FOLDER = {json.dumps(f'file://{FOLDER}')};"
            + """
          const { formatsOf } = await import(`${FOLDER}/formats.js`);
          const { day, moment } = formatsOf("en-GB", "GBP", "Asia/Tokyo");
          const told = "2026-11-20T23:30:00Z";
          console.log(JSON.stringify([day(told), day("2026-11-20"), moment(told)]));
        """
        )
        days = ["21 Nov 2026", "20 Nov 2026"]
        found = node.run(code, [], "--input-type=module")
        assert found == [*days, "21 Nov 2026, 08:30"]

    def test_the_language_is_the_first_that_there_is(self) -> None:
        asked = [["fr", ["de-AT"]], [None, ["sv", "nl-BE", "en"]], ["xx", ["sv"]]]
        assert returned("formats", "languageOf", *asked) == ["fr", "nl", "en"]
        asked = [["en", ["sv", "en-GB"]], ["es", ["en-GB"]]]
        assert returned("formats", "localeOf", *asked) == ["en-GB", "es"]


class TestCurrencies:
    AMOUNTS = ("total_amount", "outstanding_balance", "unapplied_amount", "remaining_amount_cents")
    MONEY = ("total_amount_cents", "amount_cents", "paid_out_amount_cents", "fee_cents")
    RECORD: Mapping[str, Any] = {
        "id": ID,
        "status": "issued",
        "date": TODAY,
        "payment_date": TODAY,
        "direction": "credit",
        "customer": {"name": "Buyer"},
        "vendor": {"name": "Seller"},
        **dict.fromkeys((*AMOUNTS, *MONEY), 15_000),
    }
    LINE: Mapping[str, Any] = {
        **{"description": "Beans", "quantity": 4, "tax_rate": 20},
        **{"unit_price_decimal": "2500.5", "subtotal": 10_002},
    }
    INVOICE: Mapping[str, Any] = {
        **RECORD,
        "currency": "USD",
        "exchange_rate": 0.912345678912,
        "base_total_amount_cents": 10_950,
        "total_amount": 12_002,
        "outstanding_balance": 2_002,
        "tax_total": 2_000,
        "discount_total": 0,
        "withholding_total": 0,
        "line_items": [LINE],
        "payment_allocations": [{"payment_id": ID, "amount_cents": 10_000}],
        "write_offs": [{"id": ID, "amount_cents": 5}],
        "reconciled_bank_transactions": [
            {"bank_transaction_id": ID, "bank_transaction_date": TODAY, "currency": "SEK",
             "bank_account_name": "Bank", "reconciled_amount_cents": 99_900},
            {"bank_transaction_id": ID, "bank_transaction_date": TODAY, "currency": "GBP",
             "bank_account_name": "Bank", "reconciled_amount_cents": 7_300},
        ],
    }  # fmt: skip

    @pytest.mark.parametrize(
        ("view", "path"),
        [
            ('listView("invoices")', "invoices/"),
            ('listView("bills")', "bills/"),
            ('listView("payments")', "invoices/payments/"),
            ('listView("bill-payments")', "bills/payments/"),
            ('listView("customer-credits")', "customer-credits/"),
            ('listView("vendor-credits")', "vendor-credits/"),
            ('listView("payouts")', "payouts/"),
            ('listView("bank")', "bank-transactions/"),
            ('listView("bank-lines")', "bank-transactions/"),
            ('(page) => openDocuments(page, "invoices")', "invoices/"),
        ],
    )
    def test_each_record_of_a_list_has_amounts_in_its_currency(self, view: str, path: str) -> None:
        records = [{**self.RECORD, "currency": each} for each in ("GBP", "USD", "ISK")]
        found = listed(view, path, *records)
        amounts = [each for each in found if each.endswith((",000", "0.00"))]
        times = len(amounts) // 3
        assert times
        expected = ["150.00"] * times + ["USD 150.00"] * times + ["ISK 15,000"] * times
        assert amounts == expected

    def test_what_customers_owe_is_in_base(self) -> None:
        assert "150.00" in listed('listView("customers")', "customers/", self.RECORD)

    def record(self, view: str, path: str, record: Mapping[str, Any]) -> list[str]:
        return texts("recordView", {f"{path}{ID}/": record}, view=view, id=ID)

    def test_a_foreign_record_is_in_its_currency_with_its_rate_and_base(self) -> None:
        found = self.record("invoice", "invoices/", self.INVOICE)
        facts = found[found.index("amount") :][:8]
        assert facts == [
            *("amount", "USD 120.02", "exchange_rate", "1 USD = 0.912345678912 GBP"),
            *("base_amount", "£109.50", "outstanding", "USD 20.02"),
        ]
        first = found.index("Beans")
        assert found[first : first + 5] == ["Beans", "4", "USD 25.005", "20 %", "USD 100.02"]
        assert found[first + 5 : first + 9] == ["tax", "USD 20.00", "total", "USD 120.02"]
        assert {"USD 100.00", "USD 0.05", "SEK 999.00", "73.00"} <= set(found)

    def test_a_record_in_base_is_as_before(self) -> None:
        record = {**self.INVOICE, "currency": "GBP", "exchange_rate": 1}
        found = self.record("invoice", "invoices/", record)
        assert found[found.index("amount") + 1] == "£120.02"
        first = found.index("Beans")
        assert found[first : first + 5] == ["Beans", "4", "25.005", "20 %", "100.02"]
        assert {"exchange_rate", "base_amount"}.isdisjoint(found)

    def test_a_draft_without_a_rate_has_no_base_amount(self) -> None:
        missing = {"exchange_rate": None, "base_total_amount_cents": None}
        found = self.record("invoice", "invoices/", {**self.INVOICE, **missing})
        assert {"exchange_rate", "base_amount"}.isdisjoint(found)

    def test_the_accounts_and_records_of_a_bank_line_have_its_currency(self) -> None:
        record = {
            **{"id": ID, "date": TODAY, "description": "Paid", "amount_cents": 15_000},
            **{"direction": "debit", "currency": "ISK", "exchange_rate": 0.0067},
            "splits": [
                {
                    "account": {"id": ID, "code": "6000", "name": "Rent"},
                    "amount_cents": 12_000,
                    "tax_cents": 2_000,
                }
            ],
            "links": [{"target_type": "payout", "target_id": ID, "amount_cents": 3_000}],
        }
        found = self.record("bank-transaction", "bank-transactions/", record)
        assert {"ISK 15,000", "ISK 12,000", "ISK 2,000", "ISK 3,000"} <= set(found)
        assert "1 ISK = 0.0067 GBP" in found

    def test_each_open_item_of_an_opening_has_its_currency(self) -> None:
        items = [{"id": ID, "invoice_number": each, "currency": each} for each in ("GBP", "ISK")]
        invoices = [{**each, "outstanding_amount_cents": 15_000} for each in items]
        record = {"id": ID, "date": TODAY, "currency": "GBP", "invoices": invoices}
        found = self.record("opening-balance", "opening-balances/", record)
        assert {"150.00", "ISK 15,000"} <= set(found)

    def test_a_line_of_an_entry_shows_both_amounts(self) -> None:
        account = {"account_id": ID, "account_code": "1200", "account_name": "Receivables"}
        lines = [
            {
                "debit_amount": 9_000,
                "credit_amount": 0,
                "currency": "USD",
                "currency_amount": 10_000,
            },
            {"debit_amount": 0, "credit_amount": 500, "currency": None, "currency_amount": None},
        ]
        record = {
            **{"id": ID, "entry_date": TODAY, "description": "Sale", "source_type": "manual"},
            **{"status": "approved", "total_debit": 9_000, "total_credit": 500},
            **{"lines": [{**account, **each} for each in lines]},
            "reconciled_bank_transactions": [],
        }
        path = f"general-ledger/journal-entries/{ID}/"
        found = texts("entry", {path: record}, view="entry", id=ID)
        first = found.index("Receivables")
        assert found[first : first + 6] == [
            *("Receivables", "USD 100.00", "90.00"),
            *("1200", "Receivables", "5.00"),
        ]


class TestChart:
    def test_a_scale_has_round_marks_around_all_values(self) -> None:
        found = returned("chart", "marks", [[310000, 615000, -100000]], [[0, 0]], [[-30, -10]])
        assert found[0] == [-200000, 0, 200000, 400000, 600000, 800000]
        assert found[1] == [0, 25]
        assert found[2] == [-30, -20, -10, 0]
