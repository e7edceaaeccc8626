"""Tables as CSV: one form for each value, and no text that a spreadsheet executes."""

import csv
from datetime import UTC, date, datetime, timedelta, timezone
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.results import Csv
from server.http.csv_files import csv_of, csv_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-1_200, "-1200"),
        ("Sales", "Sales"),
        ("", ""),
        ("0042", "0042"),
        (date(2026, 7, 1), "2026-07-01"),
        (datetime(2026, 7, 1, 9, tzinfo=UTC), "2026-07-01T09:00:00Z"),
        (datetime(2026, 7, 1, 9, tzinfo=timezone(timedelta(hours=2))), "2026-07-01T07:00:00Z"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("\n=1", "'\n'=1"),
        ("＝1+1", "'＝1+1"),  # noqa: RUF001 - the wide sign is meant.
        (" =1", " =1"),
        ("1=1", "1=1"),
        ("x;=1+1", "x;'=1+1"),
        ("x|@A1", "x|'@A1"),
        ("x\t=1;y;-2", "x\t'=1;y;'-2"),
        ("two\r\n-lines", "two\r\n'-lines"),
        ('x;"=1+1"', 'x;\'"=1+1"'),
        ("x;＝1", "x;'＝1"),  # noqa: RUF001 - the wide sign is meant.
        ("5, -3 and a; b", "5, -3 and a; b"),
    ],
)
def test_a_value_is_written_in_one_way(value: Any, text: str) -> None:
    assert csv_text(value) == text


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2)))
def test_what_is_written_can_be_read(rows: list[list[str]]) -> None:
    text = csv_of(Csv("x.csv", ("a", "b"), rows)).decode()
    read = list(csv.reader(StringIO(text, newline=""), strict=True))
    assert read == [["a", "b"], *([csv_text(value) for value in row] for row in rows)]


@pytest.mark.parametrize("text", ["a,b", 'a"b', "a;b", "a|b", "a\tb", "a\rb", "a\nb"])
def test_text_with_a_separator_of_any_spreadsheet_is_quoted(text: str) -> None:
    written = text.replace('"', '""')
    assert csv_of(Csv("x.csv", ("a", "b"), [[text, 1]])).decode() == f'a,b\r\n"{written}",1\r\n'


SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - the wide signs are meant.
HOSTILE = st.text(st.sampled_from([*SIGNS, ";", "|", ",", "\t", "\r", "\n", '"', "x", " "]))


@given(st.lists(HOSTILE, min_size=1, max_size=4), st.sampled_from([",", ";", "\t", "|"]))
def test_no_spreadsheet_finds_a_formula_whatever_it_splits_at(
    texts: list[str], separator: str
) -> None:
    text = csv_of(Csv("x.csv", ("a", "b"), [["first", *texts]])).decode()
    for row in csv.reader(StringIO(text, newline=""), delimiter=separator):
        assert not any(cell.startswith(SIGNS) for cell in row)
