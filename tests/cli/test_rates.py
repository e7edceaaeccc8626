"""Exchange rates of the European Central Bank, imported by the command line."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from libraries.rate_files.tests.test_rate_files import (
    DAILY_CSV,
    HISTORY_CSV,
    HISTORY_XML,
    zipped,
)
from tests import clock
from tests.api_server import ApiServer
from tests.builders.exchange_rates import OF_PARTNER, RATES, converted, table_set
from tests.command_line import CommandLine
from tests.partner import Business, Partner

DAY = "2026-10-30"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "eurofxref"


@pytest.fixture
def owner(own_server: ApiServer) -> Partner:
    """A partner without tables."""
    return own_server.partner("Owner of rates")


def wrote(file: Path, content: bytes) -> str:
    file.write_bytes(content)
    return str(file)


def to_partner(owner: Partner) -> tuple[str, str]:
    return "--partner", str(owner.partner_id)


def tables(owner: Partner | Business) -> dict[str, Any]:
    path = OF_PARTNER if isinstance(owner, Partner) else RATES
    return {each["date"]: each for each in owner.api.get(path).json()["results"]}


class TestImport:
    def test_for_a_partner_sets_the_table_of_each_day(
        self, command_line: CommandLine, own_server: ApiServer, owner: Partner, file: Path
    ) -> None:
        told = command_line.did("rates", "import", wrote(file, HISTORY_CSV), *to_partner(owner))
        assert told.out == (
            f"{file} has 4 days, from 1999-01-04 to 2026-10-30.\n"
            "Tables of 1 partner: 4 new, 0 changed, 0 unchanged.\n"
        )
        found = tables(owner)
        assert [*found] == ["2026-10-30", "2026-10-29", "2017-01-02", "1999-01-04"]
        assert {each["reference_currency"] for each in found.values()} == {"EUR"}
        assert found["1999-01-04"]["rates"] == {
            "DKK": 7.4501,
            "GBP": 0.7111,
            "ISK": 81.48,
            "NOK": 8.855,
            "SEK": 9.4696,
            "SGD": 1.9554,
            "USD": 1.1789,
        }
        shown = converted(owner.business(), "USD", "2017-01-05").json()
        assert (shown["exchange_rate"], shown["source"]) == (0.815527950311, "partner")
        trail = own_server.query(
            "SELECT DISTINCT change, action FROM partner_audit_record WHERE object_id = %s",
            found[DAY]["id"],
        )
        assert trail == [("insert", "set_partner_exchange_rates")]

    def test_again_changes_nothing_and_replaces_only_days_of_the_file(
        self, command_line: CommandLine, owner: Partner, file: Path
    ) -> None:
        later = table_set(owner, "2026-10-31")
        wrong = table_set(owner, DAY, reference_currency="GBP", rates={"USD": 9})
        for content, changed in ((zipped(DAILY_CSV), 1), (DAILY_CSV, 0)):
            told = command_line.did("rates", "import", wrote(file, content), *to_partner(owner))
            assert told.out.endswith(
                f"Tables of 1 partner: 0 new, {changed} changed, {1 - changed} unchanged.\n"
            )
        found = tables(owner)
        assert found["2026-10-31"] == later
        assert found[DAY]["id"] == wrong["id"]
        assert (found[DAY]["reference_currency"], found[DAY]["rates"]["USD"]) == ("EUR", 1.1172)

    def test_for_a_business_is_in_its_trail_and_leaves_its_partner(
        self, command_line: CommandLine, own_server: ApiServer, owner: Partner, file: Path
    ) -> None:
        business = owner.business()
        words = ("rates", "import", wrote(file, HISTORY_XML), "--business", business.id)
        told = command_line.did(*words)
        assert told.out.endswith("Tables of 1 business: 2 new, 0 changed, 0 unchanged.\n")
        assert [*tables(business)] == ["2026-10-30", "2026-10-29"]
        assert tables(owner) == tables(owner.business()) == {}
        trail = business.api.get("audit/?object_type=exchange_rate_table").json()["results"]
        assert {(each["actor"]["kind"], each["action"]) for each in trail} == {
            ("operator", "set_exchange_rates")
        }
        assert own_server.prover.faults_of(business.id) == []

    def test_without_an_owner_is_for_every_partner_that_is_enabled(
        self, command_line: CommandLine, own_server: ApiServer, owner: Partner, file: Path
    ) -> None:
        other, gone = own_server.partner("Other"), own_server.partner("Gone")
        command_line.did("partner", "disable", str(gone.partner_id), "--yes")
        command_line.did("rates", "import", wrote(file, DAILY_CSV))
        assert [*tables(owner)] == [*tables(other)] == [DAY]
        count = "SELECT count(*) FROM partner_exchange_rate_table WHERE partner_id = %s"
        assert own_server.query(count, gone.partner_id) == [(0,)]

    def test_many_days_are_many_transactions(
        self, command_line: CommandLine, owner: Partner, file: Path
    ) -> None:
        days = [clock.today() - timedelta(days=number) for number in range(600)]
        lines = "".join(f"{day},1.{number + 1000},\n" for number, day in enumerate(days))
        content = f"Date,USD,\n{lines}".encode()
        told = command_line.did("rates", "import", wrote(file, content), *to_partner(owner))
        assert told.out.endswith("Tables of 1 partner: 600 new, 0 changed, 0 unchanged.\n")
        assert owner.api.get(OF_PARTNER).json()["count"] == 600

    def test_a_sandbox_whose_clock_is_ahead_takes_them(
        self, command_line: CommandLine, own_server: ApiServer, owner: Partner, file: Path
    ) -> None:
        own_server.prepare_sandboxes()
        body = {"external_id": "rates"}
        made = owner.api.post("/v1/platform/sandboxes/", json=body).json()
        path = f"/v1/platform/sandboxes/{made['id']}/"
        moved = owner.api.patch(path, json={"clock_seconds_ahead": 864_000})
        assert moved.status_code == 200
        words = ("rates", "import", wrote(file, DAILY_CSV), "--business", made["id"])
        assert command_line.did(*words).out.endswith("1 new, 0 changed, 0 unchanged.\n")


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"<html/>", "has no exchange rates."),
            (HISTORY_CSV.replace(b"81.48", b"81,48x"), "has 13 rates for 12 currencies"),
            (HISTORY_CSV.replace(b"81.48", b"0"), ""),
            (b"PK\x03\x04", "is a damaged zip."),
        ],
    )
    def test_a_file_that_is_wrong_changes_nothing(
        self, command_line: CommandLine, owner: Partner, file: Path, content: bytes, why: str
    ) -> None:
        told = command_line.run("rates", "import", wrote(file, content), *to_partner(owner))
        assert (told.code, told.out) == (2, "")
        assert told.err.startswith(f"accounting: {file} {why}")
        assert tables(owner) == {}

    def test_an_archived_business_is_refused(
        self, command_line: CommandLine, owner: Partner, file: Path
    ) -> None:
        business = owner.business()
        assert owner.api.post(f"{business.base_url}/archive/").status_code == 200
        words = ("rates", "import", wrote(file, DAILY_CSV), "--business", business.id)
        told = command_line.run(*words)
        assert (told.code, told.out) == (2, "")
        assert told.err.startswith("accounting: This business is archived.")

    def test_a_partner_and_a_business_are_not_taken_together(
        self, command_line: CommandLine, owner: Partner, file: Path
    ) -> None:
        both = (*to_partner(owner), "--business", owner.business().id)
        told = command_line.run("rates", "import", wrote(file, DAILY_CSV), *both)
        assert told.code == 2
        assert "--partner and --business cannot be given together" in told.err

    def test_a_data_folder_without_books_is_left_empty(
        self, bare_command_line: CommandLine, file: Path
    ) -> None:
        told = bare_command_line.run("rates", "import", wrote(file, DAILY_CSV))
        assert told.err.startswith("accounting: There are no books in ")
        assert not bare_command_line.folder.exists()
