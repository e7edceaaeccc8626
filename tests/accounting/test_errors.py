import pytest

from accounting.errors import ValidationError

GENERAL = "The request has invalid fields."


class TestMessageOfFaults:
    @pytest.mark.parametrize(
        ("faults", "told"),
        [
            ({"memo": ["is too long", "is odd"]}, "memo is too long."),
            (
                {"due_date": ["is not a known field; did you mean due_at?"]},
                "due_date is not a known field; did you mean due_at?",
            ),
            ({"a": ["is required"], "b": ["is required"]}, "a is required. 1 more field is wrong."),
            ({name: ["is required"] for name in "abc"}, "a is required. 2 more fields are wrong."),
            (
                {"b": ["is required"], "a": ["is not known; did you mean b?"]},
                "a is not known; did you mean b? 1 more field is wrong.",
            ),
            ({"id": ["id or name is required"]}, "id or name is required."),
            ({"lines.1.id": ["id or name is required"]}, "lines.1: id or name is required."),
            ({"n\u00fcmber": ["is not known"]}, GENERAL),
            ({"a\nb": ["is not known"]}, GENERAL),
            ({"x" * 201: ["is not known"]}, GENERAL),
        ],
    )
    def test_the_message_is_the_first_or_a_suggesting_fault_with_a_showable_name(
        self, faults: dict[str, list[str]], told: str
    ) -> None:
        refusal = ValidationError.with_faults(faults)
        assert (refusal.code, refusal.message) == ("validation_error", told)
        assert refusal.detail == {"field_errors": faults}
