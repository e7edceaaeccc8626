"""What pages for operators tell one to type, typed."""

from pathlib import Path

import pytest

from embedded.postgres import EmbeddedPostgres
from tests.operations.pages import blocks_of, run
from tests.ports import free_port


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
