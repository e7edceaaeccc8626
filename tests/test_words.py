"""Plain words in product and tests: docs/writing.md, as far as a program can check it."""

from pathlib import Path

import pytest

from tests import words


@pytest.mark.parametrize("room", words.ROOMS)
def test_a_package_keeps_the_rules_of_writing(room: str) -> None:
    found = [
        f"{path.relative_to(words.ROOT)}:{line}: {text}"
        for path in words.modules([room])
        for line, text in words.complaints(path)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ('"""What a payment is."""', "begins with 'What'"),
        ('class Found:\n    """A value."""', "named by a participle"),
        ('def f():\n    """Say what is left of it."""', "begins with 'Say'"),
        ("x = 1  # whoever asks", "'whoever' in"),
        (f'def f():\n    """Return {"a word " * 13}."""', "over 25 words"),
    ],
)
def test_a_breach_is_found(source: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "payments.py"
    path.write_text(source)
    assert [text for _, text in words.complaints(path) if complaint in text]
