"""Errors: each describes the fault, in the common format."""

from functools import partial

from tools.verify.journeys.facts import invoice
from tools.verify.story import Story, UnexpectedAnswer, same


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
    _name_the_field(story)


def _name_the_field(story: Story) -> None:
    """Make mistakes whose remedy is another name, or a value of one field."""
    check, books = partial(story.check, "refusals"), story.books
    with check("a name of another API leads to ours"):
        limit = books.refused("GET", "customers/", 400, "validation_error", params={"limit": 5})
        if "page_size" not in limit["message"]:
            raise UnexpectedAnswer(f"The refusal does not lead to page_size: {limit['message']}")
    with check("an amount and an account that cannot be used name their fields"):
        lines = [
            {"account": "1100", "debit_amount": 5},
            {"account": "no such account", "credit_amount": 5},
        ]
        entry = {"entry_date": "2026-07-31", "lines": lines}
        path = "general-ledger/journal-entries/"
        unknown = books.refused("POST", path, 422, "reference_not_found", json=entry)
        same("field", unknown["detail"]["field"], "lines.1.account")
        huge = {**entry, "lines": [{"account": "1100", "debit_amount": 10**17}, *lines]}
        refusal = books.refused("POST", path, 400, "validation_error", json=huge)
        same("fields", [*refusal["detail"]["field_errors"]], ["lines.0.debit_amount"])
