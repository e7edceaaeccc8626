"""`accounting rebuild-balances`: what went wrong in the balances by month is put right."""

from uuid import uuid4

import pytest

from tests.builders.sales import sent
from tests.cli.desk import Desk
from tests.house import House
from tests.partnership import Business
from tests.persistence.auditing import faults_in, tamper

SPOILT = (
    "INSERT INTO account_month"
    " SELECT business_id, id, '2026-01-01', 7, 0, 1, 0 FROM account"
    " WHERE business_id = %s AND code = '1200'"
)


@pytest.fixture
def shops(premises: House) -> list[Business]:
    partner = premises.partner("Months")
    found = [partner.business(name=name) for name in ("One Ltd", "Two Ltd")]
    for shop in found:
        sent(shop, shop.customer(), 100)
        tamper(premises, SPOILT, shop.id)
        assert faults_in(premises, shop) == {"roll_ups"}
    return found


def balance(shop: Business) -> int:
    return shop.balance("1200")


class TestRebuildBalances:
    def test_mends_one_business_or_all(
        self, desk: Desk, premises: House, shops: list[Business]
    ) -> None:
        one, two = shops
        assert balance(one) == 107
        told = desk.did("rebuild-balances", "--business", one.id)
        assert told.out == "The balances of 1 business are rolled up anew (2 months).\n"
        assert told.err == ""
        assert (balance(one), balance(two)) == (100, 107)
        assert (faults_in(premises, one), faults_in(premises, two)) == (set(), {"roll_ups"})
        assert "businesses are rolled up anew (" in desk.did("rebuild-balances").out
        assert balance(two) == 100
        assert faults_in(premises, two) == set()

    def test_knows_no_other_business(self, desk: Desk, shops: list[Business]) -> None:
        told = desk.run("rebuild-balances", "--business", str(uuid4()))
        assert (told.code, told.out) == (2, "")
        assert "There is no such business" in told.err
