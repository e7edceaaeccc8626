"""Access: valid and invalid credentials, and isolation between businesses."""

from dataclasses import replace
from functools import partial
from uuid import uuid4

import httpx

from tools.verify.story import Caller, Story, UnexpectedAnswer, same

GRANT = {"grant_type": "client_credentials"}


def keep_out(story: Story) -> None:
    """Try wrong credentials, and ids of the neighbouring business."""
    check = partial(story.check, "access")
    with check("a wrong API key is refused"):
        wrong = replace(story.stranger, authorization=httpx.BasicAuth(str(uuid4()), "wrong"))
        wrong.refused("POST", "oauth2/token/", 401, "invalid_credentials", data=GRANT)
    with check("no credentials and a made-up token are refused"):
        story.stranger.refused("GET", "businesses/", 401, "authentication_required")
        forged = replace(story.stranger, authorization="Bearer made.up.token")
        forged.refused("GET", "businesses/", 401, "invalid_token")
    with check("a business token opens no operation of partners"):
        _with_token_of(story.books, story.stranger).refused(
            "GET", "businesses/", 403, "permission_denied"
        )
    with check("a business token opens no other business"):
        theirs = replace(story.neighbour, authorization=story.books.authorization)
        foreign = theirs.refused("GET", "customers/", 403, "permission_denied")
        nowhere = replace(theirs, base=f"{story.partner.base}businesses/{uuid4()}/")
        _alike(foreign, nowhere.refused("GET", "customers/", 403, "permission_denied"))
    with check("a token that only reads opens no operation that writes"):
        business_id = story.books.base.split("/")[-2]
        asked = {"access": "read"}
        token = story.partner.post(f"{business_id}/oauth2/token/", asked, expected=200)
        same("scope", token["scope"], "business_access_read")
        reader = replace(story.books, authorization=f"Bearer {token['access_token']}")
        reader.get("customers/")
        body = {"company_name": "Read Only Ltd"}
        reader.refused("POST", "customers/", 403, "permission_denied", json=body)
    with check("the id of another business's customer is as unknown as any"):
        customer = story.neighbour.post("customers/", {"company_name": "Next Door Ltd"})
        found = partial(story.books.refused, expected=404, code="customer_not_found")
        foreign = found("GET", f"customers/{customer['id']}/")
        _alike(foreign, found("GET", f"customers/{uuid4()}/"))


def _with_token_of(books: Caller, stranger: Caller) -> Caller:
    return replace(stranger, authorization=books.authorization)


def _alike(one: dict[str, object], other: dict[str, object]) -> None:
    """Check that two errors are alike, so that they do not reveal which ids exist."""
    for name in ("message", "detail"):
        if one[name] != other[name]:
            raise UnexpectedAnswer(
                f"{name}: the same was expected as of an id that nobody has, {other[name]!r}, "
                f"and {one[name]!r} came."
            )
    same("error_code", one["error_code"], other["error_code"])
