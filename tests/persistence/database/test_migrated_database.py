from pathlib import Path

import pytest

from persistence.database import migrate
from tests.api_server import Databases
from tests.persistence.database.function_listing import listing

PAGE = Path(__file__).parents[3] / "docs" / "database-functions.sql"


@pytest.fixture
def url(databases: Databases) -> str:
    return databases.clone("migrated")


class TestMigratedDatabase:
    def test_it_has_the_tables_of_the_metadata(self, url: str) -> None:
        migrate.check(url)

    def test_the_page_has_its_functions(self, url: str) -> None:
        assert listing(url) == PAGE.read_text(), "Run `make reference`."
