"""Statements of bank files: whose they are, corrections, and statements without movements."""

import json

import httpx
import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import Bank
from tests.builders.trade import Record
from tests.handlers.bank.test_import_bank_transactions import (
    counted,
    fresh_bank,
    send_file,
    shown,
)
from tests.partner import Business, Partner

GERMAN, OTHER = "DE89370400440532013000", "DE02120300000000202051"
COLUMNS = json.dumps({"date": "Date", "amount": "Amount"})


@pytest.fixture(scope="module")
def euro_shop(acme: Partner) -> Business:
    return acme.business(country="NL", entity_type="bv")


def mt940(account: str, *days: str) -> str:
    """Return a statement of an account with a line of 1.00 on each of some days of July."""
    lines = "".join(f":61:2607{each}D1,00NTRFNONREF//{account[-4:]}{each}\n" for each in days)
    return f":20:X\n:25:{account}\n:28C:1/1\n:60F:C260701EUR9,00\n{lines}:62F:C260731EUR8,00\n-\n"


def ofx(*transactions: str) -> bytes:
    account = "<CURDEF>GBP<BANKACCTFROM><ACCTID>20201555555555</BANKACCTFROM>"
    inside = "".join(f"<STMTTRN>{each}</STMTTRN>" for each in transactions)
    return f"<OFX><STMTRS>{account}<BANKTRANLIST>{inside}</BANKTRANLIST></STMTRS></OFX>".encode()


def moved(id: str, amount: str, more: str = "") -> str:
    return f"<DTPOSTED>20260715<TRNAMT>{amount}<FITID>{id}{more}"


def statuses(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["status"] for each in answer.json()["results"]]


def codes(answer: httpx.Response) -> list[str | None]:
    errors = [each["error"] for each in answer.json()["results"]]
    return [error and error["error_code"] for error in errors]


class TestWhoseStatements:
    @pytest.mark.parametrize("number", [OTHER, "12030000/0000202051", "4111111111111111"])
    def test_a_statement_of_another_account_is_refused_by_itself(
        self, euro_shop: Business, number: str
    ) -> None:
        bank = fresh_bank(euro_shop, iban=GERMAN)
        content = mt940(number, "01", "02") + mt940("37040044/0532013000", "03")
        answer = send_file(euro_shop, bank, content.encode())
        assert codes(answer) == ["bank_account_mismatch", "bank_account_mismatch", None]
        assert [each["date"] for each in shown(euro_shop, bank)] == ["2026-07-03"]

    def test_a_mask_is_compared_where_there_is_no_iban(self, euro_shop: Business) -> None:
        bank = fresh_bank(euro_shop, mask="****3000")
        answer = send_file(euro_shop, bank, (mt940(OTHER, "01") + mt940(GERMAN, "02")).encode())
        assert codes(answer) == ["bank_account_mismatch", None]

    def test_two_accounts_are_a_question_where_nothing_can_be_compared(
        self, euro_shop: Business
    ) -> None:
        bank = fresh_bank(euro_shop)
        content = (mt940(GERMAN, "01", "02") + mt940(OTHER, "03")).encode()
        asked = send_file(euro_shop, bank, content)
        assert asked.status_code == 422
        assert asked.json()["error_code"] == "statement_account_unclear"
        assert asked.json()["detail"] == {"accounts": [OTHER, GERMAN]}
        assert shown(euro_shop, bank) == []
        wrong = send_file(euro_shop, bank, content, statement_account="NL91ABNA0417164300")
        assert (wrong.status_code, wrong.json()["detail"]) == (422, asked.json()["detail"])
        chosen = send_file(euro_shop, bank, content, statement_account=GERMAN)
        assert statuses(chosen) == ["imported", "imported", "skipped"]
        assert [each["id"] is None for each in chosen.json()["results"]] == [False, False, True]

    def test_a_column_of_a_csv_names_the_account_of_each_line(self, euro_shop: Business) -> None:
        bank = fresh_bank(euro_shop, iban=GERMAN)
        content = f"Date,Amount,Konto\n2026-07-15,1.00,{GERMAN}\n2026-07-16,2.00,{OTHER}\n"
        mapping = json.dumps({"date": "Date", "amount": "Amount", "account": "Konto"})
        answer = send_file(euro_shop, bank, content.encode(), mapping=mapping)
        assert codes(answer) == [None, "bank_account_mismatch"]


class TestStatementsWithoutMovements:
    @pytest.mark.parametrize(
        ("content", "form"),
        [
            (b"Date,Amount\n", {"mapping": COLUMNS}),
            (b"Date,Amount\n\nClosing balance,\n", {"mapping": COLUMNS}),
            (ofx(), {}),
            (mt940(GERMAN).encode(), {}),
            (
                b"<Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'>"
                b"<BkToCstmrStmt><Stmt><Id>1</Id></Stmt></BkToCstmrStmt></Document>",
                {},
            ),
        ],
    )
    def test_are_200_with_no_lines(
        self, shop: Business, content: bytes, form: dict[str, str]
    ) -> None:
        answer = send_file(shop, fresh_bank(shop), content, **form)
        assert counted(answer) == (0, 0, 0)
        assert answer.json()["results"] == []

    def test_lines_of_zero_are_skipped(self, shop: Business) -> None:
        content = b"Date,Amount\n2026-07-15,0.00\n2026-07-16,1.00\n"
        answer = send_file(shop, fresh_bank(shop), content, mapping=COLUMNS)
        assert statuses(answer) == ["skipped", "imported"]
        assert answer.json()["results"][0]["id"] is None


class TestCorrections:
    def test_a_correction_replaces_an_unmatched_line(self, shop: Business, ledger: Ledger) -> None:
        bank = fresh_bank(shop)
        first = send_file(shop, bank, ofx(moved("A", "-5.00")))
        file = ofx(moved("B", "-6.00", "<CORRECTFITID>A<CORRECTACTION>REPLACE"))
        changed = send_file(shop, bank, file)
        assert statuses(changed) == ["replaced"]
        assert changed.json()["replaced"] == 1
        assert changed.json()["results"][0]["id"] == first.json()["results"][0]["id"]
        [kept] = shown(shop, bank)
        assert (kept["amount_cents"], kept["external_id"]) == (600, "B")
        assert statuses(send_file(shop, bank, file)) == ["skipped"]
        assert shown(shop, bank) == [kept]

    def test_a_correction_deletes_an_unmatched_line(self, shop: Business, ledger: Ledger) -> None:
        bank = fresh_bank(shop)
        [known] = send_file(shop, bank, ofx(moved("A", "-5.00"))).json()["results"]
        file = ofx(moved("B", "-5.00", "<CORRECTFITID>A<CORRECTACTION>DELETE"))
        answer = send_file(shop, bank, file)
        assert statuses(answer) == ["deleted"]
        assert (answer.json()["deleted"], answer.json()["results"][0]["id"]) == (1, known["id"])
        assert shown(shop, bank) == []
        assert shop.api.get(f"bank-transactions/{known['id']}/").status_code == 404
        again = send_file(shop, bank, file)
        assert (statuses(again), again.json()["results"][0]["id"]) == (["deleted"], None)

    @pytest.mark.parametrize("action", ["REPLACE", "DELETE"])
    def test_a_correction_of_a_line_in_use_fails_and_says_so(
        self, shop: Business, action: str
    ) -> None:
        bank = fresh_bank(shop)
        [known] = send_file(shop, bank, ofx(moved("A", "-5.00"))).json()["results"]
        line = f"bank-transactions/{known['id']}/"
        assert shop.api.post(f"{line}categorize/", json={"account": "6000"}).status_code == 200
        file = ofx(moved("B", "-6.00", f"<CORRECTFITID>A<CORRECTACTION>{action}"))
        answer = send_file(shop, bank, file)
        assert codes(answer) == ["bank_transaction_used_up"]
        assert shop.api.post(f"{line}uncategorize/").status_code == 200
        later = send_file(shop, bank, file)
        assert statuses(later) == ["replaced" if action == "REPLACE" else "failed"]

    def test_a_line_that_was_matched_once_is_not_deleted(
        self, shop: Business, ledger: Ledger
    ) -> None:
        bank = Bank(shop, fresh_bank(shop))
        [known] = send_file(shop, bank.account, ofx(moved("A", "-5.00"))).json()["results"]
        other = Bank(shop, fresh_bank(shop)).line(500)
        path = f"bank-transactions/{known['id']}/"
        body = {"target_type": "transfer", "target_id": other["id"]}
        [link] = shop.api.post(f"{path}match/", json=body).json()["links"]
        ended = {"reconciliation_link_id": link["reconciliation_link_id"]}
        assert shop.api.post(f"{path}unmatch/", json=ended).status_code == 200
        file = ofx(moved("B", "-5.00", "<CORRECTFITID>A<CORRECTACTION>DELETE"))
        assert codes(send_file(shop, bank.account, file)) == ["bank_transaction_used_up"]

    def test_a_file_that_corrects_its_own_lines_brings_nothing_new_again(
        self, shop: Business
    ) -> None:
        bank = fresh_bank(shop)
        file = ofx(
            moved("A", "-5.00"),
            moved("B", "-6.00", "<CORRECTFITID>A<CORRECTACTION>REPLACE"),
            moved("C", "-7.00"),
            moved("D", "-7.00", "<CORRECTFITID>C<CORRECTACTION>DELETE"),
        )
        send_file(shop, bank, file)
        [kept] = shown(shop, bank)
        assert kept["amount_cents"] == 600
        send_file(shop, bank, file)
        assert shown(shop, bank) == [kept]


class TestEmptyObject:
    def test_a_delete_takes_an_empty_object_and_no_other_body(self, shop: Business) -> None:
        rule: Record = {
            "name": "Fees",
            "conditions": {"text": "fee"},
            "result": {"account": "6300"},
        }
        path = f"bank-rules/{shop.made('bank-rules/', rule)['id']}/"
        refused = shop.api.request("DELETE", path, json={"a": 1})
        assert (refused.status_code, refused.json()["error_code"]) == (400, "bad_request")
        assert shop.api.request("DELETE", path, json={}).status_code == 200
