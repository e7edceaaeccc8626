"""What every operation that changes something leaves in the audit trail."""

from collections.abc import Iterator

import pytest

from tests.contract.document import Operation, operations
from tests.contract.valid_requests import Story
from tests.partner import Partner

# Two hand out what is kept nowhere. What one revokes, the partner's own trail has.
CHANGES_NOTHING = {"issue_partner_token", "issue_business_token", "revoke_token"}
CHANGES = [
    each for each in operations() if each.method != "get" and each.name not in CHANGES_NOTHING
]
each_change = pytest.mark.parametrize("operation", CHANGES, ids=lambda each: each.name)


@pytest.fixture
def story(acme: Partner) -> Iterator[Story]:
    story = Story.begin(acme)
    yield story
    story.close()


class TestEveryChange:
    @each_change
    def test_is_in_the_trail_under_its_name_and_request(
        self, operation: Operation, story: Story
    ) -> None:
        request = story.request(operation)
        if operation.name.startswith("unarchive_"):
            request.send(path=request.path.replace("unarchive", "archive"))
        name = f"audited.{operation.name[:50]}"
        answer = request.send(headers={"x-request-id": name})
        assert answer.status_code in (200, 201), answer.text
        made = operation.name == "create_business" or operation.node["tags"] == ["Sandboxes"]
        business_id = answer.json()["id"] if made else story.business.id
        path = f"/v1/platform/businesses/{business_id}/audit/"
        found = story.partner.api.get(path, params={"request_id": name, "page_size": 100}).json()
        assert found["results"]
        assert {each["action"] for each in found["results"]} == {operation.name}
        actors = {(each["actor"]["kind"], each["actor"]["partner_id"]) for each in found["results"]}
        by_business = request.client is not story.partner.api
        kind = "business_token" if by_business else "partner_token"
        assert actors == {(kind, str(story.partner.partner_id))}
