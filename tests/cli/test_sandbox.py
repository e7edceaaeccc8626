"""Sandboxes by the command line: created for a partner, and deleted as the owner of the schema."""

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import KEPT
from tests.builders.files import upload
from tests.builders.journal_entries import credit, debit, posted
from tests.builders.sales import sent
from tests.command_line import CommandLine
from tests.partner import Partner


@pytest.fixture(scope="module")
def practised(own_server: ApiServer, command_line: CommandLine) -> CommandLine:
    template = own_server.prepare_sandboxes()
    sent(template, template.customer(), 50_000)
    assert upload(template).status_code == 201
    posted(template, lines=[debit("6000", 100, description="Rent"), credit("2400", 100)])
    return command_line


@pytest.fixture
def place(own_server: ApiServer) -> dict[str, str]:
    return {"ACCOUNTING_DOCUMENTS_DIR": str(own_server.folder)}


def rows_of(api_server: ApiServer, business_id: str) -> int:
    tables = (*KEPT, "audit_record", "audit_seal")
    counts = " + ".join(
        f"(SELECT count(*) FROM {table} WHERE business_id = %(id)s)" for table in tables
    )
    return int(api_server.watcher.execute(f"SELECT {counts}", {"id": business_id}).fetchall()[0][0])


class TestSandboxCreate:
    def test_makes_one_for_a_partner_in_the_name_of_the_operator(
        self, practised: CommandLine, own_server: ApiServer, partner: Partner, place: dict[str, str]
    ) -> None:
        told = practised.did(
            *("sandbox", "create", str(partner.partner_id), "--name", "Nightly", "--json"), **place
        ).facts
        shown = partner.api.get(f"/v1/platform/sandboxes/{told['id']}/").json()
        assert (shown["name"], shown["external_id"]) == ("Nightly", told["external_id"])
        assert own_server.query(
            "SELECT DISTINCT actor_kind, action FROM audit_record WHERE business_id = %s",
            told["id"],
        ) == [("operator", "create_sandbox")]
        again = practised.did(
            *("sandbox", "create", str(partner.partner_id)),
            *("--external-id", told["external_id"]),
            **place,
        )
        assert again.out.startswith(f"id: {told['id']}\n")


class TestSandboxSweep:
    def test_deletes_what_was_reset_with_its_books_and_files_and_nothing_else(
        self, practised: CommandLine, own_server: ApiServer, partner: Partner, place: dict[str, str]
    ) -> None:
        body = {"external_id": "swept"}
        old = partner.api.post("/v1/platform/sandboxes/", json=body).json()["id"]
        new = partner.api.post(f"/v1/platform/sandboxes/{old}/reset/").json()["id"]
        kept = rows_of(own_server, new)
        assert rows_of(own_server, old) > kept > 50

        told = practised.did("sandbox", "sweep", "--dry-run", **place)
        assert told.out == f"{old}\n1 sandbox would be deleted.\n"
        assert practised.did("sandbox", "sweep", **place).out == f"{old}\n1 sandbox was deleted.\n"
        assert (rows_of(own_server, old), rows_of(own_server, new)) == (0, kept)
        assert [*(own_server.folder / new).iterdir()]
        assert not [*(own_server.folder / old).iterdir()]
        assert partner.api.get(f"/v1/platform/businesses/{old}/").status_code == 404
        assert own_server.prover.faults_of(new) == []

    def test_of_older_ones_leaves_real_businesses_and_the_template(
        self, practised: CommandLine, own_server: ApiServer, partner: Partner, place: dict[str, str]
    ) -> None:
        real = partner.business()
        before = own_server.query("SELECT id FROM business WHERE sandbox IS DISTINCT FROM 'open'")
        own_server.query(
            "UPDATE business SET created_at = created_at - interval '3 days'"
            " WHERE sandbox IS NULL OR sandbox = 'open' RETURNING id"
        )
        practised.did("sandbox", "sweep", "--older-than", "2", **place)
        left = own_server.query("SELECT id FROM business")
        assert sorted(left) == sorted(before)
        assert real.id in {str(id_) for (id_,) in left}


class TestSandboxPrepare:
    def test_fills_new_books_and_the_sweep_deletes_the_earlier_ones(
        self, practised: CommandLine, own_server: ApiServer, partner: Partner, place: dict[str, str]
    ) -> None:
        template = "SELECT id FROM business WHERE sandbox = 'template' ORDER BY created_at"
        [(before,)] = own_server.query(template)
        practised.did("sandbox", "prepare", **place)
        [_, (now,)] = own_server.query(template)
        assert practised.did("sandbox", "sweep", **place).out.startswith(f"{before}\n")
        assert own_server.query(template) == [(now,)]
        body = {"external_id": "filled"}
        made = partner.api.post("/v1/platform/sandboxes/", json=body).json()
        invoices = partner.api.get(f"/v1/platform/businesses/{made['id']}/invoices/").json()
        assert invoices["count"] > 100
