"""Places where a caller may name another business's record: a path, a list, a filter."""

from tests.contract.document import Operation, bodies, operations
from tests.contract.story_things import MAKERS
from tests.contract.valid_requests import JSON


def names_in(operation: Operation) -> list[str]:
    """Return the names in a path, without the business."""
    names = [each["name"] for each in operation.parameters if each["in"] == "path"]
    return [name for name in names if name != "business_id"]


WHOLE_LISTS = [
    each for each in operations() if each.within_business and each.is_list and not names_in(each)
]
LIST_WITHOUT_ROWS = "list_vat_summary_entries"  # Its period is today unless one is given.
WITH_AN_ID = [each for each in operations() if each.within_business and names_in(each)]
WITH_A_BODY = [each for each in operations() if each.within_business and JSON in bodies(each)]
# A feed has no pages with numbers, and no count.
FEEDS = [each.path.partition("{business_id}/")[2] for each in WHOLE_LISTS if not each.takes("page")]
LISTS = [
    path
    for each in WHOLE_LISTS
    if (path := each.path.partition("{business_id}/")[2]) not in FEEDS
    and each.name != LIST_WITHOUT_ROWS
]

# The ids by which filters under other names find a record.
FILTERED_BY = {
    **{"source_invoice_id": "invoice_id", "source_bill_id": "bill_id"},
    **{"linked_id": "customer_id", "object_id": "customer_id"},
    **{"account": "account_id", "parent": "account_id"},
}
FILTERS = [
    (each, parameter["name"])
    for each in WHOLE_LISTS
    for parameter in each.parameters
    if parameter["in"] == "query"
    and FILTERED_BY.get(parameter["name"], parameter["name"]) in MAKERS
]
