"""`accounting rebuild-balances`: what went wrong in the balances by month is put right."""

from uuid import uuid4

import pytest

from tests.api_server import ApiServer
from tests.builders.sales import sent
from tests.command_line import CommandLine
from tests.partner import Business
from tests.persistence.auditing import faults_in, tamper

SPOILT = (
    "INSERT INTO account_month"
    " SELECT business_id, id, '2026-01-01', 7, 0, 1, 0 FROM account"
    " WHERE business_id = %s AND code = '1200'"
)


@pytest.fixture
def shops(own_server: ApiServer) -> list[Business]:
    partner = own_server.partner("Months")
    found = [partner.business(name=name) for name in ("One Ltd", "Two Ltd")]
    for shop in found:
        sent(shop, shop.customer(), 100)
        tamper(own_server, SPOILT, shop.id)
        assert faults_in(own_server, shop) == {"roll_ups"}
    return found


def balance(shop: Business) -> int:
    return shop.balance("1200")


class TestRebuildBalances:
    def test_mends_one_business_or_all(
        self, command_line: CommandLine, own_server: ApiServer, shops: list[Business]
    ) -> None:
        one, two = shops
        assert balance(one) == 107
        told = command_line.did("rebuild-balances", "--business", one.id)
        assert told.out == "The balances of 1 business are rolled up anew (2 months).\n"
        assert told.err == ""
        assert (balance(one), balance(two)) == (100, 107)
        assert (faults_in(own_server, one), faults_in(own_server, two)) == (set(), {"roll_ups"})
        assert "businesses are rolled up anew (" in command_line.did("rebuild-balances").out
        assert balance(two) == 100
        assert faults_in(own_server, two) == set()

    def test_knows_no_other_business(
        self, command_line: CommandLine, shops: list[Business]
    ) -> None:
        told = command_line.run("rebuild-balances", "--business", str(uuid4()))
        assert (told.code, told.out) == (2, "")
        assert "There is no such business" in told.err
