"""Lists, read to their end in each possible way."""

from dataclasses import replace
from functools import partial

from tools.verify.story import Story, UnexpectedAnswer, same


def walk_lists(story: Story) -> None:
    """Read a list of five by cursors, by page numbers and by links."""
    check, books = partial(story.check, "lists"), story.books
    with check("a list is walked to its end by cursors"):
        made = {
            books.post("vendors/", {"company_name": f"Listed {number} Ltd"})["id"]
            for number in range(5)
        }
        walked = [vendor["id"] for vendor in books.walk("vendors/", page_size=2)]
        total = books.get("vendors/", page_size=2)["page_info"]["total_count"]
        same("items met and items counted", len(walked), total)
        same("items met twice", len(walked) - len(set(walked)), 0)
        if missed := made - set(walked):
            raise UnexpectedAnswer(f"Vendors that are there were not met: {sorted(missed)}.")
    with check("page numbers and links lead through the same items"):
        pages = books.get("vendors/", page_size=2)["page_info"]["total_pages"]
        numbered = [
            vendor["id"]
            for number in range(1, pages + 1)
            for vendor in books.get("vendors/", page_size=2, page=number)["results"]
        ]
        same("ids by page numbers", numbered, walked)
        same("a page past the end", books.get("vendors/", page=pages + 100)["results"], [])
        same("ids by links", _followed(story), walked)


def _followed(story: Story) -> list[str]:
    """Return the ids of the list by following the `next` links, which are relative to the host."""
    found: list[str] = []
    page, host = story.books.get("vendors/", page_size=2), replace(story.books, base="")
    while True:
        found += [vendor["id"] for vendor in page["results"]]
        if page["next"] is None or len(found) > 1_000:
            return found
        page = host.get(page["next"])
