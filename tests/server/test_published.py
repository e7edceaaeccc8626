from typing import Any

from server.contract import parse, read_source
from server.published import published

SMALL = b"""\
openapi: 3.0.3  # As we like it.
paths:
  /things/:
    post:
      x-gap: |
        Nobody said so.

        It is so.
      requestBody: {content: {}}
      responses:
        '201':
          links:
            # The next step.
            Next:
              operationId: next
              requestBody:
                thing: {id: $response.body#/id}
              parameters: {id: $response.body#/id}
components:
  schemas:
    Thing:
      properties:
        links: {type: array}
        x: {type: string}
      x-gap: Short.

    # After it.
    Other: {}
"""
PUBLISHED = b"""\
openapi: 3.0.3  # As we like it.
paths:
  /things/:
    post:
      requestBody: {content: {}}
      responses:
        '201':
          links:
            # The next step.
            Next:
              operationId: next
              parameters: {id: $response.body#/id}
components:
  schemas:
    Thing:
      properties:
        links: {type: array}
        x: {type: string}
    # After it.
    Other: {}
"""


def without(node: Any, *, link: bool = False, links: bool = False) -> Any:
    """What is to be left of the document, found without its text."""
    if isinstance(node, list):
        return [without(item) for item in node]
    if not isinstance(node, dict):
        return node
    left_out = {"x-gap", "requestBody"} if link else {"x-gap"}
    return {
        key: without(value, link=links, links=key == "links")
        for key, value in node.items()
        if key not in left_out
    }


class TestPublished:
    def test_notes_and_bodies_of_links_go_and_the_text_stays(self) -> None:
        assert published(SMALL) == PUBLISHED

    def test_nothing_else_goes_from_the_contract(self) -> None:
        source = read_source()
        assert parse(published(source)) == without(parse(source))
