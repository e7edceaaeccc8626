"""Planted records equal the records that the API itself would have created."""

from uuid import UUID

from tests.api_server import ApiServer
from tools.bench.seed import Size, multiply, plant


class TestPlant:
    def test_a_third_is_overdue_and_the_ledger_holds_what_is_owed(
        self, fresh_server: ApiServer
    ) -> None:
        business = fresh_server.partner("Bench").business()
        plant(business.api, fresh_server.database_url, UUID(business.id), Size(3, 30))
        asked = {"status": "overdue", "page_size": 5}
        assert business.api.get("invoices/", params=asked).json()["page_info"]["total_count"] == 10
        text = "SELECT sum(outstanding), count(*), count(DISTINCT party_id) FROM invoice"
        [(owed, many, people)] = fresh_server.query(text)
        assert (many, people) == (30, 3)
        assert business.balance("1200") == owed

    def test_businesses_are_copied_with_all_their_rows(self, fresh_server: ApiServer) -> None:
        business = fresh_server.partner("Bench").business()
        plant(business.api, fresh_server.database_url, UUID(business.id), Size(2, 6))
        multiply(fresh_server.database_url, UUID(business.id), 3)
        text = "SELECT count(*), count(DISTINCT business_id) FROM {}"
        assert fresh_server.query(text.format("invoice")) == [(24, 4)]
        assert fresh_server.query(text.format("journal_line")) == [(48, 4)]
