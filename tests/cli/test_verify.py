"""`accounting verify` as CI calls it: its output, its files and its exit code."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_line import CommandLine, CommandResult
from tests.partner import Partner
from tests.ports import free_port
from tools.verify.journeys import JOURNEYS
from tools.verify.tests.fault_proxy import Exchange, FaultPlan, spoiled


def run(bare: CommandLine, partner: Partner, *words: str, **more: str) -> CommandResult:
    """Verify the partner's server with the key in the environment."""
    named = {
        "ACCOUNTING_PARTNER_ID": str(partner.partner_id),
        "ACCOUNTING_API_KEY": partner.api_key,
    }
    return bare.run("verify", *(words or (partner.url, "--quick")), **{**named, **more})


class TestHealthyServer:
    def test_every_check_holds(
        self, bare_command_line: CommandLine, partner: Partner, tmp_path: Path
    ) -> None:
        junit = tmp_path / "verify.xml"
        words = (partner.url, "--quick", "--json", "--junit", str(junit))
        told = run(bare_command_line, partner, *words)
        assert told.code == 0, told.out
        facts = told.facts
        assert (facts["status"], facts["warnings"]) == ("green", [])
        journeys = [check["journey"] for check in facts["checks"]]
        assert [*dict.fromkeys(journeys)] == [*JOURNEYS, "closing"]
        suites = ElementTree.fromstring(junit.read_bytes())
        assert (suites.get("tests"), suites.get("failures")) == (str(len(facts["checks"])), "0")
        assert partner.api_key not in told.out + told.err + junit.read_text("utf-8")

    def test_what_it_made_is_archived_and_nothing_else_is_touched(
        self, bare_command_line: CommandLine, partner: Partner, tmp_path: Path
    ) -> None:
        path = f"/v1/platform/businesses/{partner.business().id}/"
        kept = partner.key.get(path).json()
        key = tmp_path / "key"
        key.write_text(f"{partner.api_key}\n", "utf-8")
        words = (partner.url, "--quick", "--api-key-file", str(key))
        told = run(bare_command_line, partner, *words, ACCOUNTING_API_KEY="")
        assert told.code == 0, told.out
        assert "checks hold" in told.out.splitlines()[-1]
        made = partner.key.get("/v1/platform/businesses/?is_archived=true").json()["results"]
        assert made
        assert {each["is_active"] for each in made} == {False}
        assert partner.key.get(path).json() == kept


class TestFaultyServer:
    def test_a_failed_check_is_told_with_request_and_answer(
        self, bare_command_line: CommandLine, partner: Partner, tmp_path: Path
    ) -> None:
        def spoil(passing: Exchange) -> None:
            if passing.method == "POST" and passing.path.endswith("/vendors/"):
                passing.content = passing.content.replace(b'"ACTIVE"', b'"AWAKE\x01"')

        junit = tmp_path / "verify.xml"
        with spoiled(partner.url, FaultPlan(answer=spoil)) as url:
            told = run(bare_command_line, partner, url, "--quick", "--junit", str(junit))
        assert told.code == 1
        at = told.out.splitlines().index("FAILED  purchases: a vendor is made")
        lines = [line.strip() for line in told.out.splitlines()[at + 1 :]]
        assert lines[0] == "The body is no JSON."
        assert lines[1].startswith(f"request: POST {url}/v1/platform/businesses/")
        assert "answer:  201 Created" in lines
        [failure, *_] = ElementTree.fromstring(junit.read_bytes()).iter("failure")
        assert failure.get("message") == "The body is no JSON."
        assert '"AWAKE\N{REPLACEMENT CHARACTER}"' in (failure.text or "")

    def test_another_version_is_warned_of(
        self, bare_command_line: CommandLine, partner: Partner
    ) -> None:
        def age(passing: Exchange) -> None:
            if passing.path == "/openapi.json":
                document = passing.body
                document["info"]["version"] = "1.0.0"
                passing.body = document

        with spoiled(partner.url, FaultPlan(answer=age)) as url:
            told = run(bare_command_line, partner, url, "--quick")
        assert told.code == 0
        assert "warning: The deployment serves version 1.0.0 of the contract" in told.err


class TestNothingToVerify:
    def told(self, told: CommandResult, why: str) -> None:
        assert (told.code, told.out) == (2, "")
        assert why in " ".join(told.err.replace("│", " ").split())

    def test_wrong_credentials(self, bare_command_line: CommandLine, partner: Partner) -> None:
        told = run(bare_command_line, partner, ACCOUNTING_API_KEY="apk_test_wrong")
        self.told(told, "accounting: The credentials are refused with 401:")
        assert "apk_test_wrong" not in told.err

    def test_nobody_listens(self, bare_command_line: CommandLine, partner: Partner) -> None:
        told = run(bare_command_line, partner, f"http://127.0.0.1:{free_port()}", "--quick")
        self.told(told, "accounting: No contract can be read there:")

    def test_another_server(self, bare_command_line: CommandLine, partner: Partner) -> None:
        def spoil(passing: Exchange) -> None:
            passing.content = b"[]"

        with spoiled(partner.url, FaultPlan(answer=spoil)) as url:
            told = run(bare_command_line, partner, url, "--quick")
        self.told(told, "accounting: What is at /openapi.json there is no contract.")

    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("http://sandbox.example.com", "Credentials go over https only"),
            ("sandbox.example.com", "A host is needed"),
            ("https://sandbox.example.com/v1/", "A host is needed"),
            ("https://me:secret@sandbox.example.com", "no more than its name and port"),
        ],
    )
    def test_an_address_that_no_key_is_sent_to(
        self, bare_command_line: CommandLine, partner: Partner, url: str, why: str
    ) -> None:
        self.told(run(bare_command_line, partner, url, "--quick"), why)

    def test_no_key(self, bare_command_line: CommandLine, partner: Partner) -> None:
        self.told(run(bare_command_line, partner, ACCOUNTING_API_KEY=""), "An API key is needed")
