"""Import of bank statement lines, as JSON and from files of several banks."""

import json
from dataclasses import asdict
from typing import Any

import httpx
import pytest

from accounting.absent import RequestObject
from handlers.bank.bank_commands import columns_of
from handlers.bank.bank_transactions import guess_format
from libraries.bank_files.tests.statements import (
    EUROS,
    FILES,
    IBANS,
    MAPPINGS,
    content_of,
    format_of,
)
from tests.builders.trade import Record
from tests.contract.document import document
from tests.partner import Business, Partner

LINES = "bank-transactions/"
CSV = b"Date,Amount\n2026-07-15,1.00\n"
BY_AMOUNT = '{"date": "Date", "amount": "Amount"}'
AMBIGUOUS_DAY = b"Date,Amount\n03/07/2026,1.00\n"
AMBIGUOUS_AMOUNT = b"Date;Amount\n2026-07-15;1.000\n2026-07-16;12.500\n"
WRONG_DAY = '{"date": "Day", "amount": "Amount"}'
OUTCOMES = ("imported", "skipped", "failed")


@pytest.fixture(scope="module")
def euro_shop(acme: Partner) -> Business:
    return acme.business(country="NL", entity_type="bv")


@pytest.fixture(scope="module")
def bank(shop: Business) -> Record:
    return shop.made("bank-accounts/", {"display_name": "Current account"})


def fresh_bank(business: Business, **facts: Any) -> Record:
    return business.made("bank-accounts/", {"display_name": "Statements", **facts})


def line(**facts: Any) -> Record:
    return {"date": "2026-07-15", "amount_cents": 1_000, "direction": "credit", **facts}


def send(business: Business, bank: Record, *lines: Record) -> httpx.Response:
    return business.api.post(LINES, json={"bank_account_id": bank["id"], "transactions": lines})


def send_file(business: Business, bank: Record, content: bytes, **form: str) -> httpx.Response:
    data = {"bank_account_id": bank["id"], **form}
    return business.api.post(LINES, data=data, files={"file": ("statement", content)})


def send_sample(business: Business, bank: Record, name: str) -> httpx.Response:
    mapping = MAPPINGS.get(name)
    form = {"mapping": json.dumps(mapping)} if mapping else {}
    return send_file(business, bank, content_of(name), **form)


def counted(answer: httpx.Response) -> tuple[int, int, int]:
    assert answer.status_code == 200, answer.text
    imported, skipped, failed = (answer.json()[name] for name in OUTCOMES)
    return imported, skipped, failed


def shown(business: Business, bank: Record) -> list[Record]:
    path = f"{LINES}?bank_account_id={bank['id']}&sort=created_at&page_size=100"
    found: list[Record] = business.api.get(path).json()["results"]
    return found


class TestImportBankTransactions:
    def test_a_line_is_kept_as_it_was_sent(self, shop: Business, bank: Record) -> None:
        given = {
            "external_id": "FQB-1",
            "description": "BLUE DOOR CAFE LTD INV-000001",
            "counterparty_name": "Blue Door Cafe Ltd",
            "reference": "INV-000001",
            "currency": "GBP",
        }
        answer = send(shop, bank, line(**given))
        [result] = answer.json()["results"]
        assert counted(answer) == (1, 0, 0)
        assert (result["index"], result["status"], result["error"]) == (0, "imported", None)
        read = shop.api.get(f"{LINES}{result['id']}/")
        kept = read.json()
        assert {name: kept[name] for name in line(**given)} == line(**given)
        assert kept["bank_account_id"] == bank["id"]
        assert kept["bank_account_name"] == "Current account"
        assert (kept["remaining_amount_cents"], kept["is_reconciled"]) == (1_000, False)
        assert (kept["linked_amount_cents"], kept["categorized_amount_cents"]) == (0, 0)
        assert (kept["links"], kept["category"], kept["source_format"]) == ([], None, "json")
        assert read.headers["etag"] == '"1"'

    def test_importing_posts_nothing(self, shop: Business, bank: Record) -> None:
        entries = "general-ledger/journal-entries/"
        before = shop.api.get(entries).json()["count"]
        send(shop, bank, line(external_id="posts-nothing"))
        assert shop.api.get(entries).json()["count"] == before

    def test_a_repeated_line_is_skipped_within_and_across_requests(
        self, shop: Business, bank: Record
    ) -> None:
        first = send(shop, bank, line(external_id="A"), line(external_id="A"))
        assert counted(first) == (1, 1, 0)
        kept, again = first.json()["results"]
        assert again["id"] == kept["id"]
        second = send(shop, bank, line(external_id="A", description="x"), line(external_id="B"))
        assert counted(second) == (1, 1, 0)
        assert second.json()["results"][0]["id"] == kept["id"]

    def test_a_known_bank_id_on_another_day_or_amount_is_another_line(self, shop: Business) -> None:
        bank = fresh_bank(shop)
        first = line(external_id="FEE", amount_cents=850, direction="debit")
        others = [{"date": "2026-08-15"}, {"amount_cents": 900}, {"direction": "credit"}]
        assert counted(send(shop, bank, first, {**first, **others[0]})) == (2, 0, 0)
        assert counted(send(shop, bank, {**first, **others[1]})) == (1, 0, 0)
        assert counted(send(shop, bank, {**first, **others[2]}, first)) == (1, 1, 0)
        everything = [first, *({**first, **other} for other in others)]
        assert counted(send(shop, bank, *everything)) == (0, 4, 0)
        names = [each["external_id"] for each in shown(shop, bank)]
        assert (names[0], len(set(names))) == ("FEE", 4)
        assert all(name.startswith("FEE-") for name in names[1:])

    def test_bank_ids_are_unique_per_bank_account(self, shop: Business, bank: Record) -> None:
        send(shop, bank, line(external_id="both"))
        assert counted(send(shop, fresh_bank(shop), line(external_id="both"))) == (1, 0, 0)

    def test_equal_lines_without_an_id_count_each_and_only_once(self, shop: Business) -> None:
        bank = fresh_bank(shop)
        coffee = line(amount_cents=320, direction="debit", description="COFFEE SHOP")
        assert counted(send(shop, bank, coffee, coffee, line())) == (3, 0, 0)
        assert counted(send(shop, bank, coffee, coffee, line())) == (0, 3, 0)
        assert counted(send(shop, bank, coffee, coffee, coffee)) == (1, 2, 0)
        names = [each["external_id"] for each in shown(shop, bank)]
        assert len(set(names)) == 4
        assert all(name.startswith("line-") for name in names)

    def test_a_line_of_another_currency_fails_alone(self, shop: Business, bank: Record) -> None:
        euros = line(external_id="euros", currency="EUR")
        answer = send(shop, bank, line(external_id="c1"), euros, line(external_id="c2"))
        assert counted(answer) == (2, 0, 1)
        failed = answer.json()["results"][1]
        assert (failed["status"], failed["id"]) == ("failed", None)
        assert failed["error"]["error_code"] == "currency_mismatch"

    def test_a_line_that_is_not_as_described_refuses_the_request(
        self, shop: Business, bank: Record
    ) -> None:
        answer = send(shop, bank, line(), line(amount_cents=0), line(direction="up"))
        assert answer.status_code == 400
        assert set(answer.json()["detail"]["field_errors"]) == {
            "transactions.1.amount_cents",
            "transactions.2.direction",
        }

    def test_a_thousand_lines_are_imported(self, shop: Business) -> None:
        lines = [line(external_id=f"many-{place}") for place in range(1_000)]
        assert counted(send(shop, fresh_bank(shop), *lines)) == (1_000, 0, 0)


class TestImportBankFiles:
    @pytest.mark.parametrize("name", sorted(FILES))
    def test_a_file_sent_twice_brings_nothing_new(
        self, shop: Business, euro_shop: Business, name: str
    ) -> None:
        business = euro_shop if name in EUROS else shop
        bank = fresh_bank(business, **({"iban": IBANS[name]} if name in IBANS else {}))
        imported, failed = FILES[name]
        assert counted(send_sample(business, bank, name)) == (imported, 0, failed)
        kept = shown(business, bank)
        assert len(kept) == imported
        assert counted(send_sample(business, bank, name)) == (0, imported, failed)
        assert shown(business, bank) == kept

    def test_each_bad_line_says_what_is_wrong(self, euro_shop: Business) -> None:
        answer = send_sample(euro_shop, fresh_bank(euro_shop), "de.csv")
        [failed] = [each for each in answer.json()["results"] if each["status"] == "failed"]
        assert failed["index"] == 3
        assert failed["error"] == {
            "error_code": "validation_error",
            "message": "The amount is not a number.",
        }

    def test_the_facts_of_a_file_are_kept(self, euro_shop: Business) -> None:
        bank = fresh_bank(euro_shop)
        send_sample(euro_shop, bank, "nl_camt_02.xml")
        first = shown(euro_shop, bank)[0]
        facts = (first["date"], first["amount_cents"], first["direction"])
        assert facts == ("2026-07-15", 121_000, "credit")
        assert first["counterparty_name"] == "Bakkerij Blauwe Deur"
        assert (first["reference"], first["external_id"]) == ("INV-000017", "26196ABN0001")
        assert first["source_format"] == "camt053"

    def test_lines_of_another_iban_than_the_bank_accounts_fail(self, euro_shop: Business) -> None:
        bank = fresh_bank(euro_shop, iban="DE89 3704 0044 0532 0130 00")
        answer = send_sample(euro_shop, bank, "de_camt_08.xml")
        codes = [each["error"] and each["error"]["error_code"] for each in answer.json()["results"]]
        assert codes == [None, None, None, None, "currency_mismatch", "bank_account_mismatch"]

    def test_krona_without_cents_are_read_whole(self, acme: Partner) -> None:
        icelandic = acme.business(base_currency="ISK")
        bank = fresh_bank(icelandic)
        content = b"Date,Amount\n2026-07-15,1500\n2026-07-16,-20.00\n2026-07-17,0.50\n"
        assert counted(send_file(icelandic, bank, content, mapping=BY_AMOUNT)) == (2, 0, 1)
        assert [each["amount_cents"] for each in shown(icelandic, bank)] == [1_500, 20]

    def test_ten_thousand_lines_are_taken_and_no_more(self, shop: Business) -> None:
        rows = ["Date,Amount", *(f"2026-07-15,{place}.01" for place in range(1, 10_002))]
        bank = fresh_bank(shop)
        refused = send_file(shop, bank, "\n".join(rows).encode(), mapping=BY_AMOUNT)
        assert refused.status_code == 400
        assert refused.json()["detail"]["field_errors"] == {"file": ["has more than 10,000 lines"]}
        taken = send_file(shop, bank, "\n".join(rows[:-1]).encode(), mapping=BY_AMOUNT)
        assert counted(taken) == (10_000, 0, 0)

    @pytest.mark.parametrize(
        ("content", "form", "field"),
        [
            (CSV, {}, "mapping"),
            (CSV, {"mapping": WRONG_DAY}, "mapping.date"),
            (CSV, {"format": "ofx"}, "file"),
            (CSV, {"format": "camt053"}, "file"),
            (CSV, {"format": "mt940"}, "file"),
            (b"<OFX><STMTRS></OFX>", {}, "file"),
            (b"OFXHEADER:100\n<OFX><A>", {}, "file"),
            (b":20:X\n:25:Y\n", {"mapping": WRONG_DAY}, "mapping"),
            (b"<?xml version='1.0'?><Document><BkToCstmrStmt/></Document>", {}, "file"),
            (b"<?xml version='1.0'?><Document><BkToCstmrStmt>", {"format": "camt053"}, "file"),
            (b'Date,Amount\n"2026-07-15,1.00\n', {"mapping": BY_AMOUNT}, "file"),
            (AMBIGUOUS_DAY, {"mapping": BY_AMOUNT}, "mapping.date_format"),
            (AMBIGUOUS_AMOUNT, {"mapping": BY_AMOUNT}, "mapping.decimal_comma"),
            (b"<!DOCTYPE D [<!ENTITY a 'b'>]><D><BkToCstmrStmt/></D>", {}, "file"),
        ],
    )  # fmt: skip
    def test_a_file_that_cannot_be_read_is_refused(
        self, shop: Business, bank: Record, content: bytes, form: dict[str, str], field: str
    ) -> None:
        answer = send_file(shop, bank, content, **form)
        assert answer.status_code == 400, answer.text
        assert set(answer.json()["detail"]["field_errors"]) == {field}

    @pytest.mark.parametrize("content", [b"%PDF-1.7\n", b"\x89PNG\r\n\x1a\n", b"hello", b"\x00"])
    def test_a_file_that_is_no_statement_is_not_taken(
        self, shop: Business, bank: Record, content: bytes
    ) -> None:
        answer = send_file(shop, bank, content)
        assert answer.status_code == 415
        assert answer.json()["error_code"] == "unsupported_media_type"

    @pytest.mark.parametrize(
        "mapping",
        [
            {"date": "Date"},
            {"amount": "Amount"},
            {"date": "Date", "amount": "Amount", "credit": "In", "debit": "Out"},
            {"date": "Date", "credit": "In"},
            {"date": "Date", "credit": "In", "debit": "Out", "direction": "D"},
            {"date": "Date", "amount": "Amount", "colour": "C"},
            {"date": "Date", "amount": "Amount", "date_format": "YYYY"},
        ],
    )
    def test_a_mapping_that_fits_nothing_is_refused(
        self, shop: Business, bank: Record, mapping: Record
    ) -> None:
        assert send_file(shop, bank, CSV, mapping=json.dumps(mapping)).status_code == 400


class TestColumnsOf:
    def test_each_field_of_a_mapping_is_the_column_of_that_name(self) -> None:
        fields = document()["components"]["schemas"]["BankFileMapping"]["properties"]
        mapping = {name: name for name in fields}
        assert asdict(columns_of(RequestObject(mapping))) == mapping


class TestGuessFormat:
    @pytest.mark.parametrize("name", sorted(FILES))
    def test_the_format_of_every_sample_is_guessed(self, name: str) -> None:
        assert guess_format(content_of(name)) == format_of(name)

    @pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"hello", b"<html></html>", b"{}"])
    def test_no_format_is_guessed_of_other_content(self, content: bytes) -> None:
        assert guess_format(content) is None
