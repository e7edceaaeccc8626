import pytest

from persistence.database.condition import look
from tests.api_server import ApiServer
from tests.builders.sales import paid, sent
from tests.command_line import CommandLine
from tests.partner import Business
from tests.persistence.integrity.book_faults import tamper

# A change outside the audit trail, so that only this check fails.
COUNTED_ON = "UPDATE number_series SET last = 9 WHERE business_id = %s AND series = 'JE-2025'"
NAMED = "the series JE-2025 counts 9 with 2 entries"


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
    tamper(own_server, COUNTED_ON, business.id)
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
        [[records]] = own_server.query("SELECT count(*) FROM audit_record")
        sealed = "SELECT sum(cardinality(record_ids)), max(number) FROM audit_seal"
        assert own_server.query(sealed) == [(records, 1)]

        tamper(own_server, COUNTED_ON, second.id)
        told = command_line.run("check-books")
        assert told.code == 1
        kept = "SELECT holds, faulty, businesses, checked > 0 FROM proof_run ORDER BY ended_at"
        assert own_server.query(kept) == [(True, 0, 2, True), (False, 1, 2, True)]
        newest = look(own_server.database_url).newest_proof
        assert newest is not None
        assert (newest.holds, newest.faulty) == (False, 1)
        assert f"Spoilt Ltd ({second.id}) of Second ({second.partner.partner_id})" in told.out
        assert f"  entry_numbers: {NAMED} (of 3 checked)\n" in told.out
        assert told.out.endswith("The books of 1 of 2 businesses do not hold.\n")
        assert "Sound Ltd" not in told.out


class TestChosenBooks:
    def test_are_those_of_one_business(
        self,
        command_line: CommandLine,
        own_server: ApiServer,
        sound: Business,
        spoilt: Business,
    ) -> None:
        [[kept]] = own_server.query("SELECT count(*) FROM proof_run")
        told = command_line.did("check-books", "--business", sound.id)
        assert told.out.startswith("The books of 1 business hold (")
        told = command_line.run("check-books", "--business", spoilt.id)
        assert (told.code, told.out.splitlines()[-1]) == (
            1,
            "The books of 1 of 1 business do not hold.",
        )
        assert own_server.query("SELECT count(*) FROM proof_run") == [(kept,)]

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

    def test_are_shown_as_json(self, command_line: CommandLine, spoilt: Business) -> None:
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
            {"name": "entry_numbers", "checked": 3, "first_offender": NAMED}
        ]

    def test_their_partner_and_its_keys_are_proven_with_them(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        partner = own_server.partner("Fourth")
        chosen = ("check-books", "--partner", str(partner.partner_id))
        trade(partner.business())
        assert command_line.run(*chosen).code == 0
        tamper(own_server, "UPDATE partner SET name = 'x' WHERE id = %s", partner.partner_id)
        tamper(
            own_server,
            "UPDATE partner_audit_record SET action = 'x' WHERE partner_id = %s"
            " AND object_type = 'api_key'",
            partner.partner_id,
        )
        told = command_line.run(*chosen)
        assert told.code == 1
        assert (
            f"Partners and keys, partner_rows: partner {partner.partner_id} (of 2 checked)\n"
            "Partners and keys, partner_records: record "
        ) in told.out
        facts = command_line.run(*chosen, "--json").facts
        assert (facts["status"], facts["faulty"]) == ("red", [])
        assert [each["name"] for each in facts["partners"]] == ["partner_rows", "partner_records"]
