"""What pages for operators tell one to type, typed."""

from pathlib import Path

import pytest
import yaml

from embedded.postgres import EmbeddedPostgres
from tests.operations.pages import DOCS, HEADING, blocks_of, run
from tests.ports import free_port


class TestAlerts:
    def test_each_says_where_the_page_tells_what_to_do(self) -> None:
        rules = yaml.safe_load((DOCS / "ops" / "alerts.yml").read_text(encoding="utf-8"))
        alerts = [rule for group in rules["groups"] for rule in group["rules"]]
        page = (DOCS / "operations.md").read_text(encoding="utf-8")
        told = [name for name in HEADING.findall(page) if name.startswith("Accounting")]
        assert told == [alert["alert"] for alert in alerts]
        for alert in alerts:
            anchor = f"docs/operations.md#{alert['alert'].lower()}"
            assert alert["annotations"]["runbook"] == anchor


class TestOperations:
    @pytest.mark.slow
    def test_each_command_of_the_page_works_in_its_turn(
        self, fresh_folder: Path, cluster: EmbeddedPostgres
    ) -> None:
        where = cluster.url("accounting").partition("@")[2]
        backups = fresh_folder / "backups"
        backups.mkdir()
        assert len(blocks_of("operations.md")) > 12
        run(
            "operations.md",
            fresh_folder,
            DBA_URL=cluster.url("accounting"),
            OWNER_URL=f"postgresql://owner@{where}",
            SERVER_URL=f"postgresql://server@{where}",
            PORT=str(free_port()),
            ACCOUNTING_METRICS_PORT=str(free_port()),
            BACKUPS=str(backups),
        )
