from uuid import uuid4

import pytest

from tests.api_server import ApiServer
from tests.builders.sales import paid, sent
from tests.command_line import CommandLine
from tests.partner import Business
from tests.persistence.auditing import tamper

RENUMBERED = (
    "UPDATE journal_entry SET sequence_number = 'JE-2025-000007'"
    " WHERE business_id = %s AND source_type = 'payment'"
)


def trade(business: Business) -> Business:
    customer = business.customer()
    share = {"invoice_id": sent(business, customer, 2_500)["id"], "amount_cents": 2_500}
    paid(business, customer, 3_000, allocations=[share])
    return business


@pytest.fixture(scope="module")
def sound(own_server: ApiServer) -> Business:
    return trade(own_server.partner("Third").business(name="Fine Ltd"))


@pytest.fixture(scope="module")
def spoilt(own_server: ApiServer, sound: Business) -> Business:
    business = trade(sound.partner.business(name="Rotten Ltd"))
    tamper(own_server, RENUMBERED, business.id)
    return business


class TestCheckBooks:
    def test_proves_every_business_and_names_each_fault(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        trade(own_server.partner("First").business(name="Sound Ltd"))
        second = trade(own_server.partner("Second").business(name="Spoilt Ltd"))

        told = command_line.did("check-books")
        assert told.out.startswith("The books of 2 businesses hold (")
        assert told.err == ""

        tamper(own_server, RENUMBERED, second.id)
        told = command_line.run("check-books")
        assert told.code == 1
        assert f"Spoilt Ltd ({second.id}) of Second ({second.partner.partner_id})" in told.out
        assert "  entry_numbers: JE-2025-000002 (of 3 checked)\n" in told.out
        assert told.out.endswith("The books of 1 of 2 businesses do not hold.\n")
        assert "Sound Ltd" not in told.out


class TestChosenBooks:
    def test_are_those_of_one_business(
        self, command_line: CommandLine, sound: Business, spoilt: Business
    ) -> None:
        told = command_line.did("check-books", "--business", sound.id)
        assert told.out.startswith("The books of 1 business hold (")
        told = command_line.run("check-books", "--business", spoilt.id)
        assert (told.code, told.out.splitlines()[-1]) == (
            1,
            "The books of 1 of 1 business do not hold.",
        )

    def test_are_those_of_one_partner(self, command_line: CommandLine, spoilt: Business) -> None:
        told = command_line.run("check-books", "--partner", str(spoilt.partner.partner_id))
        assert told.code == 1
        assert told.out.endswith("The books of 1 of 2 businesses do not hold.\n")

    def test_are_proven_by_several_processes_as_by_one(
        self, command_line: CommandLine, spoilt: Business
    ) -> None:
        alone = command_line.run("check-books", "--workers", "1")
        together = command_line.run("check-books", "--workers", "2")
        assert alone.code == 1
        assert (together.code, together.out, together.err) == (1, alone.out, "")

    def test_are_told_to_programs(self, command_line: CommandLine, spoilt: Business) -> None:
        told = command_line.run(
            "check-books", "--json", "--partner", str(spoilt.partner.partner_id)
        )
        facts = told.facts
        assert told.code == 1
        assert (facts["status"], facts["businesses"]) == ("red", 2)
        [faulty] = facts["faulty"]
        assert faulty["business_id"] == spoilt.id
        assert faulty["business_name"] == "Rotten Ltd"
        assert faulty["partner_id"] == str(spoilt.partner.partner_id)
        assert faulty["checks"] == [
            {"name": "entry_numbers", "checked": 3, "first_offender": "JE-2025-000002"}
        ]

    def test_are_not_those_of_nobody(self, command_line: CommandLine) -> None:
        told = command_line.run("check-books", "--business", str(uuid4()))
        assert (told.code, told.out) == (2, "")
        assert "There is no such business" in told.err
