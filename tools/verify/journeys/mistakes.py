"""Errors: each describes the fault, in the common format."""

from functools import partial

from tools.verify.journeys.facts import invoice
from tools.verify.story import Story, UnexpectedAnswer


def be_refused(story: Story) -> None:
    """Make typical mistakes of a beginner, and check the errors."""
    check, books = partial(story.check, "refusals"), story.books
    with check("every fault of a body is named"):
        body = {"company_name": 7, "payment_terms_days": "soon", "colour": "red"}
        refusal = books.refused("POST", "customers/", 400, "validation_error", json=body)
        if missing := body.keys() - refusal["detail"]["field_errors"].keys():
            raise UnexpectedAnswer(f"The refusal does not name {sorted(missing)}.")
    with check("what is no JSON, and an unknown parameter, are refused"):
        sent = {"content": b"{", "headers": {"Content-Type": "application/json"}}
        books.refused("POST", "customers/", 400, "malformed_json", **sent)
        colour = {"params": {"colour": "red"}}
        books.refused("GET", "customers/", 400, "validation_error", **colour)
    with check("an unknown address and an unknown method are told apart"):
        books.refused("GET", "nothing/", 404, "route_not_found")
        books.refused("DELETE", "customers/", 405, "method_not_allowed")
    with check("a state that does not allow a change is a conflict"):
        customer = books.post("customers/", {"company_name": "Owes Much Ltd"})
        books.post("invoices/", invoice(customer["id"], 900))
        path = f"customers/{customer['id']}/archive/"
        books.refused("POST", path, 409, "customer_has_balance")
