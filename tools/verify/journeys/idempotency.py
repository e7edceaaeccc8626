"""Safe repeats and updates: idempotency keys, external ids and versions."""

from functools import partial
from uuid import uuid4

from tools.verify.journeys.facts import invoice
from tools.verify.story import KEY, Story, UnexpectedAnswer, same


def repeat(story: Story) -> None:
    """Repeat writes as after a lost connection, and update a record that has changed."""
    check, books = partial(story.check, "repeating"), story.books
    with check("a write repeated with its key takes effect once"):
        customer = books.post("customers/", {"company_name": "Twice Asked Ltd"})
        order, key = invoice(customer["id"], 4_200), {KEY: str(uuid4())}
        ask = partial(books.call, "POST", "invoices/", expected=201, headers=key)
        first, again = ask(json=order), ask(json=order)
        same("the repeated answer", again.text, first.text)
        same("Idempotent-Replayed", again.headers.get("Idempotent-Replayed"), "true")
        made = books.walk("invoices/", customer_id=customer["id"])
        same("invoices of the customer", len(made), 1)
    with check("a key of another request is refused"):
        other = invoice(customer["id"], 4_300)
        code = "idempotency_key_reused"
        books.refused("POST", "invoices/", 422, code, json=other, headers=key)
    with check("an external id answers what is there already"):
        order = invoice(customer["id"], 1_000, external_id="order-1001")
        made_id = books.post("invoices/", order)["id"]
        same("id", books.post("invoices/", order, expected=200)["id"], made_id)
    with check("a change of an older version is refused, and changes nothing"):
        path = f"customers/{customer['id']}/"
        version = {"If-Match": books.call("GET", path, expected=200).headers["ETag"]}
        change = partial(books.call, "PATCH", path, headers=version)
        newer = change(expected=200, json={"notes": "first"}).headers["ETag"]
        if newer == version["If-Match"]:
            raise UnexpectedAnswer(
                f"Another ETag was expected after a change, and {newer} came again."
            )
        stale = {"json": {"notes": "second"}, "headers": version}
        books.refused("PATCH", path, 412, "precondition_failed", **stale)
        same("notes", books.get(path)["notes"], "first")
