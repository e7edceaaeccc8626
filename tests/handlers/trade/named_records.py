"""A list of a business whose records have names."""

from dataclasses import dataclass
from typing import Any

from tests.builders.trade import Record
from tests.partner import Business


@dataclass(frozen=True)
class NamedRecords:
    """The records of one list, each by a unique name."""

    shop: Business
    path: str
    records: dict[str, Record]

    def page(self, **query: Any) -> Record:
        answer = self.shop.api.get(self.path, params=query)
        assert answer.status_code == 200, answer.text
        page: Record = answer.json()
        return page

    def rows(self, **query: Any) -> list[Record]:
        rows: list[Record] = self.page(page_size=100, **query)["results"]
        return rows

    def names(self, **query: Any) -> list[str]:
        """Return the names of the records that a query selects; check the count."""
        by_id = {record["id"]: name for name, record in self.records.items()}
        page = self.page(page_size=100, **query)
        assert page["count"] == len(page["results"])
        return [by_id[row["id"]] for row in page["results"]]
