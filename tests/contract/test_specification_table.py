"""docs/specification-coverage.md is up to date, and each row names a test."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract import specification_table, specified
from tests.contract.specification_table import TABLE, chosen, named_before, table
from tests.contract.specified import SpecificationError

WRONG = (
    ("operations", "GET B kittens/", "no such operation"),
    ("values", "Currency: GBP XXX | access/test_tokens.py::TestReading", "lacks XXX"),
    ("values", "Kitten: grey | access/test_tokens.py::TestReading", "no schema Kitten"),
    ("values", "Currency: GBP | access/test_no.py::TestNo", "no test access/test_no.py"),
    ("filters", "list_vendors: colour", "no such parameter"),
    ("rules", "Kittens purr. | access/test_kittens.py", "no test access/test_kittens.py"),
)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The content of `specified.toml` for a test to change, empty at first."""
    kept: dict[str, Any] = dict.fromkeys(("operations", "values", "filters", "rules"), "")
    kept |= {"fields": [], "pinned": {}}
    for module in (specification_table, specified):
        monkeypatch.setattr(module, "specified", lambda: kept)
    monkeypatch.setattr(specification_table, "limits", list)
    return kept


class TestTable:
    def test_the_page_is_what_is_written(self) -> None:
        page = TABLE.read_text("utf-8")
        assert table(page) == page, "Write it anew: make specification"

    def test_it_covers_every_chapter(self) -> None:
        rows = named_before(TABLE.read_text("utf-8"))
        assert all(rows.values())
        assert {key.split()[0] for key in rows} == set(specification_table.CHAPTERS)
        assert len(rows) > 500

    @pytest.mark.parametrize(("chapter", "line", "fault"), WRONG)
    def test_what_is_not_there_is_told(
        self, kept: dict[str, Any], chapter: str, line: str, fault: str
    ) -> None:
        kept[chapter] = f"9 {line}"
        with pytest.raises(SpecificationError, match=fault):
            table("")

    def test_a_field_that_the_contract_or_no_test_has_is_told(self, kept: dict[str, Any]) -> None:
        group = {"section": "9", "title": "Vendor", "schema": "Vendor", "names": "memo colour"}
        kept["fields"] = [{**group, "tests": ["access/test_links.py"]}]
        with pytest.raises(SpecificationError) as told:
            table("")
        assert str(told.value).splitlines() == [
            "fields 9 Vendor: `colour`: the contract has no colour there",
            "fields 9 Vendor: `memo`: no test mentions it",
        ]

    def test_what_is_pinned_has_a_row(self, kept: dict[str, Any]) -> None:
        kept["pinned"] = {"fields 9 Kitten: `fur`": "access/test_links.py"}
        with pytest.raises(SpecificationError, match="pinned, and no row"):
            table("")


class TestChosen:
    FIRST = "handlers/trade/test_parties.py::TestCreateVendor::test_keeps_and_shows_every_field"
    SECOND = "handlers/trade/test_parties.py::TestUpdateVendor::test_clears_what_is_null"

    def test_it_is_the_best_one(self) -> None:
        assert chosen("row", [self.FIRST, self.SECOND], {}, {}) == self.FIRST

    def test_the_one_named_before_stays_while_it_would_do(self) -> None:
        tests = [self.FIRST, self.SECOND]
        assert chosen("row", tests, {"row": self.SECOND}, {}) == self.SECOND
        assert chosen("row", [self.FIRST], {"row": self.SECOND}, {}) == self.FIRST

    def test_the_pinned_one_goes_before_it(self) -> None:
        before, pinned = {"row": self.FIRST}, {"row": self.SECOND}
        assert chosen("row", [self.FIRST], before, pinned) == self.SECOND
