import pytest

from server.http.field_errors import closest

KNOWN = (
    "due_at",
    "sent_at",
    "status",
    "unit_price",
    "memo",
    "reference_number",
    "total_amount_cents",
)


class TestClosest:
    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("due_date", "due_at"),
            ("sentAt", "sent_at"),
            ("state", "status"),
            ("price", "unit_price"),
            ("amount_cents", "total_amount_cents"),
            ("memo_text", "memo"),
            ("phone_number", None),
            ("colour", None),
            ("x" * 100_000, None),
            ("", None),
        ],
    )
    def test_the_closest_name_is_suggested_only_if_it_is_similar(
        self, name: str, meant: str | None
    ) -> None:
        assert closest(name, KNOWN) == meant

    def test_nothing_is_close_to_nothing(self) -> None:
        assert closest("due_at", ()) is None
