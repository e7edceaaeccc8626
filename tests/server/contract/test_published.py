from typing import Any

import yaml

from server.contract.document import parse, read_source
from server.contract.published import published

SMALL = b"""\
openapi: 3.0.3  # As we like it.
x-shared:
  - &word {type: string, maxLength: 9}
  - &told
    <<: *word
    description: |
      Of a
      thing.

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
        # What it is.
        x: &x {<<: *word, maxLength: 5, x-gap: It is so.}
        y: *told
        z: {type: array, items: {anyOf: [*x, {type: integer}]}}
      x-gap: Short.
      example: &thing
        x: A.
        links: &links
          - &here
            to: a place whose name is so long that the name takes a line for itself
            '400': [1, '2', null]
    Page:
      example:
        results:
          - *here
          - <<: *thing
            x: |2
               B.
            links: *links
          - {z: [*here]}


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
        # What it is.
        x: {type: string, maxLength: 5}
        y:
          type: string
          maxLength: 9
          description: |
            Of a
            thing.
        z: {type: array, items: {anyOf: [{type: string, maxLength: 5}, {type: integer}]}}
      example:
        x: A.
        links:
          - to: a place whose name is so long that the name takes a line for itself
            '400': [1, '2', null]
    Page:
      example:
        results:
          - to: a place whose name is so long that the name takes a line for itself
            '400': [1, '2', null]
          - x: " B.\\n"
            links:
              - to: a place whose name is so long that the name takes a line for itself
                '400': [1, '2', null]
          - z:
              - to: a place whose name is so long that the name takes a line for itself
                '400': [1, '2', null]

    # After it.
    Other: {}
"""


def without(node: Any, *, link: bool = False, links: bool = False) -> Any:
    """Return the expected document, derived from its parsed form."""
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
    def test_notes_go_what_is_said_once_is_written_out_and_the_other_text_stays(self) -> None:
        assert published(SMALL) == PUBLISHED

    def test_nothing_else_goes_from_the_contract(self) -> None:
        source = read_source()
        assert parse(published(source)) == without(parse(source))

    def test_no_anchor_is_left(self) -> None:
        tokens = yaml.scan(published(read_source()), yaml.CSafeLoader)
        assert not [each for each in tokens if isinstance(each, yaml.AnchorToken | yaml.AliasToken)]
