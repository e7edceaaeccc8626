"""The sample of a CI job is a valid workflow with existing commands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from cli.main import app

SAMPLE = Path(__file__).parents[2] / "docs/ci/accounting-verify.yml"
CALL = re.compile(r"\.venv/bin/accounting (.+?)(?: >| 2>| &|$)", re.M)


def jobs() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(SAMPLE.read_text("utf-8"))["jobs"]
    return found


def calls() -> list[str]:
    return [
        call
        for job in jobs().values()
        for step in job["steps"]
        for call in CALL.findall(step.get("run", ""))
    ]


class TestSample:
    def test_is_a_workflow(self) -> None:
        program = Path(sys.executable).with_name("check-jsonschema")
        schema = ["--builtin-schema", "vendor.github-workflows"]
        subprocess.run([program, "--quiet", *schema, SAMPLE], check=True)

    @pytest.mark.parametrize("call", calls())
    def test_calls_a_command_with_options_that_it_has(
        self, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ACCOUNTING_PARTNER_ID", "0197f0c2-1b7e-7c11-9a53-5f0e6b1d2a01")
        monkeypatch.setenv("ACCOUNTING_URL", jobs()["sandbox"]["env"]["ACCOUNTING_URL"])
        monkeypatch.chdir(tmp_path)
        Path("api-key").touch()
        command: Any = typer.main.get_command(app)
        context = command.make_context("accounting", shlex.split(os.path.expandvars(call)))
        while rest := [*context._protected_args, *context.args]:
            name, command, rest = context.command.resolve_command(context, rest)
            context = command.make_context(name, rest, parent=context)
            if not hasattr(command, "commands"):
                break
        assert context.args == []

    def test_verifies_in_each_job_and_keeps_the_report(self) -> None:
        for job in jobs().values():
            *_, verify, keep = job["steps"]
            assert "accounting verify" in verify["run"]
            assert "--junit verify.xml" in verify["run"]
            assert keep["if"] == "always()"
            assert "verify.xml" in keep["with"]["path"]

    def test_names_no_key_in_a_command(self) -> None:
        assert [call for call in calls() if "API_KEY" in call] == []
