"""The quickstart for partners and the first calls of the contract: they run unchanged."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from server.contract.document import parse, read_source
from server.docs.guides import read
from tests.api_server import ApiServer
from tools.clients import quickstart

SCRIPT = Path(quickstart.__file__)


class TestQuickstart:
    def test_its_receivables_are_what_its_invoices_are_owed(
        self, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        partner = api_server.partner("Newcomer")
        found = quickstart.first_ten_calls(api_server.url, str(partner.partner_id), partner.api_key)
        assert found["owed"] == found["receivable"] == 144_000 + 21_250 - 100_000
        assert api_server.prover.faults_of(found["business_id"]) == []
        told = capsys.readouterr().out
        assert "Sales" in told
        assert "INV-000001 comes to 1,652.50." in told
        assert "652.50 is owed, and Accounts receivable holds 652.50." in told

    def test_running_it_again_changes_nothing(self, api_server: ApiServer) -> None:
        partner = api_server.partner("Returner")
        credentials = api_server.url, str(partner.partner_id), partner.api_key
        first = quickstart.first_ten_calls(*credentials)
        assert quickstart.first_ten_calls(*credentials) == first
        [[entries]] = api_server.query(
            "SELECT count(*) FROM journal_entry WHERE business_id = %s", first["business_id"]
        )
        assert entries == 3

    def test_it_makes_ten_calls(self) -> None:
        source = SCRIPT.read_text()
        assert source.count("said(api.") == 10
        assert [f"# {n}. " in source for n in range(1, 11)] == [True] * 10

    def test_it_runs_from_the_command_line(self, api_server: ApiServer) -> None:
        partner = api_server.partner("Typist")
        done = run(
            BASE_URL=api_server.url, PARTNER_ID=str(partner.partner_id), API_KEY=partner.api_key
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "Posted: JE-" in done.stdout

    def test_a_refusal_ends_it_with_the_words_of_the_api(self, api_server: ApiServer) -> None:
        partner = api_server.partner("Forgetful")
        done = run(BASE_URL=api_server.url, PARTNER_ID=str(partner.partner_id), API_KEY="apk_wrong")
        assert done.returncode == 1
        assert done.stderr.startswith("invalid_credentials: ")

    def test_without_credentials_it_says_what_it_needs(self) -> None:
        done = run(BASE_URL="http://127.0.0.1:1")
        assert done.returncode == 1
        assert "BASE_URL PARTNER_ID API_KEY" in done.stderr


class TestShown:
    def test_the_guide_has_the_calls_as_they_run(self) -> None:
        source = SCRIPT.read_text(encoding="utf-8")
        calls = source[source.index("        # 1. ") : source.index("    return {")]
        text = read("quickstart-in-python")
        [shown] = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        assert shown.rstrip() == textwrap.dedent(calls).rstrip()


class TestFirstCalls:
    """The commands in the text of the contract."""

    def test_they_run_as_they_are_shown_and_again(self, api_server: ApiServer) -> None:
        partner = api_server.partner("Reader")
        text = parse(read_source())["info"]["description"]
        [commands] = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        commands = commands.replace("https://api.accounting.example", api_server.url)
        commands = commands.replace(" PARTNER_ID=... API_KEY=...", "")
        for _ in range(2):
            done = subprocess.run(
                ["bash", "-e", "-c", commands],
                env={
                    "PATH": os.environ["PATH"],
                    "PARTNER_ID": str(partner.partner_id),
                    "API_KEY": partner.api_key,
                },
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
            assert (done.returncode, done.stderr) == (0, "")
            _, end = json.JSONDecoder().raw_decode(done.stdout)  # Of the payment.
            invoice = json.loads(done.stdout[end:])
            assert (invoice["total_amount"], invoice["outstanding_balance"]) == (144_000, 44_000)


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
