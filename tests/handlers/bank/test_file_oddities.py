"""Bank files with an oddity over HTTP: the right lines are stored once, or the file is refused."""

import json
from decimal import Decimal

import httpx
import pytest

from libraries.bank_files.tests.oddities import Oddity, Right
from libraries.bank_files.tests.test_oddities import ODDITIES
from tests.builders.trade import Record
from tests.handlers.bank.test_import_bank_transactions import (
    counted,
    fresh_bank,
    send_file,
    shown,
)
from tests.partner import Business, Partner

COMPARED = ("description", "counterparty_name", "reference", "external_id")


@pytest.fixture(scope="module")
def euro_shop(acme: Partner) -> Business:
    return acme.business(country="NL", entity_type="bv")


def send_oddity(shop: Business, bank: Record, case: Oddity) -> httpx.Response:
    form = {"mapping": json.dumps(case.columns)} if case.columns else {}
    return send_file(shop, bank, case.content, format=case.format, **form)


def as_shown(right: Right) -> tuple[str, int]:
    return right.day, int(Decimal(right.amount) * 100)


def as_stored(line: Record) -> tuple[str, int]:
    return line["date"], line["amount_cents"] * (1 if line["direction"] == "credit" else -1)


class TestOddities:
    @pytest.mark.parametrize("case", ODDITIES, ids=lambda case: f"{case.format}: {case.oddity}")
    def test_a_file_brings_its_lines_once_or_is_refused(
        self, euro_shop: Business, case: Oddity
    ) -> None:
        bank = fresh_bank(euro_shop)
        answer = send_oddity(euro_shop, bank, case)
        if case.asks:
            field = case.asks if case.asks == "file" else f"mapping.{case.asks}"
            assert answer.status_code == 400
            [why] = answer.json()["detail"]["field_errors"][field]
            assert why.startswith(case.why)
            assert shown(euro_shop, bank) == []
            return
        moving = [line for line in case.lines if Decimal(line.amount)]
        zeros = len(case.lines) - len(moving)
        assert counted(answer) == (len(moving), zeros, case.bad)
        stored = shown(euro_shop, bank)
        assert sorted(map(as_stored, stored)) == sorted(map(as_shown, moving))
        for line, right in zip(stored, moving, strict=True):
            told = {name: right.facts[name] for name in COMPARED if right.facts.get(name)}
            assert {name: line[name] for name in told} == told
        again = send_oddity(euro_shop, bank, case)
        assert counted(again) == (0, len(case.lines), case.bad)
        assert shown(euro_shop, bank) == stored
