"""Every limit of the specification: a value at it is accepted, one beyond it is an error."""

from typing import Any

import pytest

from tests.contract.document import named
from tests.contract.specified_limits import Limit, limits
from tests.contract.valid_requests import Story
from tests.partner import Partner


@pytest.fixture(scope="module")
def story(acme: Partner) -> Story:
    return Story.begin(acme)


def faults(story: Story, limit: Limit, value: Any) -> dict[str, Any]:
    """Return the errors of a valid request with another value of a field."""
    request = story.request(named(limit.operation))
    node, (*above, last) = request.body, limit.field.split(".")
    for name in above:
        node = node.setdefault(name, [{}])[0]
    node[last] = value
    answer = request.send()
    found: dict[str, Any] = answer.json().get("detail", {}).get("field_errors", {})
    assert answer.status_code == 400 or not found
    return found


def at(limit: Limit, found: dict[str, Any]) -> list[str]:
    """Return the errors that concern the field."""
    place = limit.field.replace(".", ".0.")
    return [name for name in found if name == place or name.startswith(f"{place}.")]


class TestLimit:
    @pytest.mark.parametrize("limit", limits(), ids=lambda each: each.name.replace("`", ""))
    def test_is_reached_and_not_passed(self, story: Story, limit: Limit) -> None:
        assert not at(limit, faults(story, limit, limit.reached()))
        assert at(limit, faults(story, limit, limit.passed()))
