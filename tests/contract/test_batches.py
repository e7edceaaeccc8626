"""The items that a batch may have are the writes of a business."""

from server.contract.document import JSON, Contract
from tests.contract.document import document

IN_BUSINESS = "/v1/platform/businesses/{business_id}/"
# They work above the books: on the business itself, its lock date included.
OF_THE_BUSINESS = "businesses"


class TestBatchOperation:
    def test_is_each_that_writes_json_in_a_business_but_a_batch(self) -> None:
        writes = [
            each.operation_id
            for each in Contract(document()).operations.values()
            if each.method != "GET"
            and each.path.startswith(IN_BUSINESS)
            and each.module not in (OF_THE_BUSINESS, "batches")
            and (not each.bodies or JSON in each.bodies)
        ]
        assert document()["components"]["schemas"]["BatchOperation"]["enum"] == writes
