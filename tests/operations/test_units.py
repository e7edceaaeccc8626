"""The units of systemd, parsed by systemd itself; none is started."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.operations.pages import DOCS

UNITS = [path for kind in ("service", "timer") for path in DOCS.glob(f"ops/*.{kind}")]
ANALYZE = shutil.which("systemd-analyze")


@pytest.mark.skipif(ANALYZE is None, reason="There is no systemd-analyze here.")
class TestUnits:
    def test_they_are_valid(self, tmp_path: Path) -> None:
        assert ANALYZE is not None
        program = tmp_path / "accounting"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        copies = []
        for unit in UNITS:
            copies.append(tmp_path / unit.name)
            installed = unit.read_text(encoding="utf-8")
            copies[-1].write_text(installed.replace("/opt/accounting/bin/accounting", str(program)))
        told = subprocess.run(
            [ANALYZE, "verify", "--man=no", *copies], capture_output=True, text=True, check=False
        )
        assert len(copies) == 3
        assert (told.returncode, told.stderr) == (0, "")
