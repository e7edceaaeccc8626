"""The audit trail of every operation that changes records."""

import pytest

from tests.contract.document import Operation, operations
from tests.contract.valid_requests import Story

# Two issue tokens, which are not stored. Revocations are in the partner's own trail.
CHANGES_NOTHING = {"issue_partner_token", "issue_business_token", "revoke_token"}
# In the trail of the partner, too.
OF_PARTNERS = {"set_partner_exchange_rates"}
CHANGES = [
    each
    for each in operations()
    if each.method != "get"
    and each.name not in CHANGES_NOTHING | OF_PARTNERS
    and each.node["tags"] != ["Webhook endpoints"]  # In the partner's own trail, too.
]
each_change = pytest.mark.parametrize("operation", CHANGES, ids=lambda each: each.name)


class TestEveryChange:
    @each_change
    def test_is_in_the_trail_under_its_name_and_request(
        self, operation: Operation, own_story: Story
    ) -> None:
        request, partner = own_story.request(operation), own_story.partner
        if operation.name.startswith("unarchive_"):
            request.send(path=request.path.replace("unarchive", "archive"))
        name = f"audited.{operation.name[:50]}"
        answer = request.send(headers={"x-request-id": name})
        assert answer.status_code in (200, 201), answer.text
        made = operation.name == "create_business" or operation.node["tags"] == ["Sandboxes"]
        business_id = answer.json()["id"] if made else own_story.business.id
        path = f"/v1/platform/businesses/{business_id}/audit/"
        found = partner.api.get(path, params={"request_id": name, "page_size": 100}).json()
        assert found["results"]
        names = {operation.name}
        if operation.name == "run_batch":  # It is audited as the operations of its items.
            names = {each["operation"] for each in request.body["items"]}
        assert {each["action"] for each in found["results"]} == names
        actors = {(each["actor"]["kind"], each["actor"]["partner_id"]) for each in found["results"]}
        by_business = request.client is not partner.api
        kind = "business_token" if by_business else "partner_token"
        assert actors == {(kind, str(partner.partner_id))}
