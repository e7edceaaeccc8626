from pathlib import Path

from tests.api_server import Databases
from tests.persistence.database.function_listing import listing

PAGE = Path(__file__).parents[3] / "docs" / "database-functions.sql"


class TestFunctionListing:
    def test_the_page_has_the_functions_of_the_migrated_database(
        self, databases: Databases
    ) -> None:
        assert listing(databases.clone("listed")) == PAGE.read_text(), "Run `make reference`."
