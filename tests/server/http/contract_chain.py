"""A small contract with a case of each kind, and the middlewares that serve it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from connexion import ConnexionMiddleware
from connexion.resolver import Resolver

from server.contract.document import parse
from server.http.routing import Routing
from server.http.validation import Call, Validation

SMALL_CONTRACT = r"""
openapi: 3.0.3
info: {title: One of everything, version: 1.0.0}
paths:
  /shops/{shop_id}/orders/:
    parameters:
      - {$ref: '#/components/parameters/ShopId'}
    get:
      tags: [Orders]
      operationId: list_orders
      parameters:
        - {name: page, in: query, schema: {type: integer, minimum: 1, maximum: 1000, default: 1}}
        - {name: open, in: query, schema: {type: boolean}}
        - {name: since, in: query, schema: {type: string, format: date-time}}
        - {name: day, in: query, schema: {type: string, format: date, default: '2025-01-31'}}
        - {name: rate, in: query, schema: {type: number, minimum: 0, maximum: 100}}
        - {name: search, in: query, schema: {type: string, minLength: 1, maxLength: 20}}
        - {name: cursor, in: query, schema: {type: string, format: cursor}}
        - name: ids
          in: query
          explode: false
          schema: {type: array, maxItems: 100, items: {type: string, format: uuid}}
        - name: tag
          in: query
          schema: {type: array, maxItems: 3, items: {type: string, maxLength: 5}}
        - {name: needed, in: query, required: true, schema: {type: string}}
      responses: {'200': {description: Orders.}}
    post:
      tags: [Orders]
      operationId: create_order
      parameters:
        - name: Idempotency-Key
          in: header
          schema: {type: string, minLength: 1, maxLength: 255, pattern: '^[!-~]+$'}
        - {name: If-Match, in: header, schema: {type: string, maxLength: 30}}
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/OrderCreate'}}
          application/x-www-form-urlencoded: {schema: {$ref: '#/components/schemas/OrderCreate'}}
          multipart/form-data: {schema: {$ref: '#/components/schemas/OrderCreate'}}
      responses:
        '200':
          description: The order.
          headers: {ETag: {schema: {type: string}}}
          content: {application/json: {schema: {$ref: '#/components/schemas/OrderCreate'}}}
  /shops/{shop_id}/orders/latest/:
    parameters:
      - {$ref: '#/components/parameters/ShopId'}
    patch:
      tags: [Orders]
      operationId: change_latest_order
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/OrderCreate'}}}
      responses: {'200': {description: The order.}}
  /shops/{shop_id}/orders/drafts/:
    parameters:
      - {$ref: '#/components/parameters/ShopId'}
    post:
      tags: [Order drafts]
      operationId: create_draft
      requestBody:
        content:
          application/json: {schema: {type: object, additionalProperties: true}}
      responses: {'200': {description: The draft.}}
  /shops/{shop_id}/orders/{order_id}/:
    parameters:
      - {$ref: '#/components/parameters/ShopId'}
      - {name: order_id, in: path, required: true, schema: {type: string, maxLength: 40}}
    get: {tags: [Orders], operationId: get_order, responses: {'200': {description: One.}}}
    patch: {tags: [Orders], operationId: touch_order, responses: {'200': {description: One.}}}
  /shops/{shop_id}/orders/{order_id}/papers/:
    parameters:
      - {$ref: '#/components/parameters/ShopId'}
      - {name: order_id, in: path, required: true, schema: {type: string, maxLength: 40}}
    post:
      tags: [Orders]
      operationId: add_paper
      requestBody:
        required: true
        content:
          multipart/form-data:
            schema:
              type: object
              required: [file]
              additionalProperties: false
              properties:
                file: {type: string, format: binary}
                title: {type: string, maxLength: 20}
                parts: {type: array, maxItems: 5, items: {type: integer, maximum: 9}}
      responses: {'200': {description: Stored.}}
components:
  parameters:
    ShopId: {name: shop_id, in: path, required: true, schema: {type: string, format: uuid}}
  schemas:
    OrderCreate:
      type: object
      additionalProperties: false
      required: [amount_cents]
      not: {required: [email, iban]}
      x-not: {field: iban, message: give an email or an IBAN}
      properties:
        amount_cents: {type: integer, minimum: 1, maximum: 9007199254740991}
        limit_cents: {$ref: '#/components/schemas/Limit'}
        quantity: {type: number, minimum: 0, maximum: 1000, multipleOf: 0.000001}
        customer_id: {type: string, format: uuid, nullable: true}
        due_date: {type: string, format: date}
        paid_at: {type: string, format: date-time}
        email: {type: string, format: email, maxLength: 254}
        iban: {type: string, format: iban}
        name:
          type: string
          maxLength: 10
          pattern: '^[^\u0000-\u0020]'
          x-pattern-message: must not begin blank
        kind: {type: string, enum: [goods, service]}
        sent: {type: boolean}
        tags: {type: array, maxItems: 3, uniqueItems: true, items: {type: string, maxLength: 5}}
        allocations:
          type: array
          maxItems: 500
          items: {$ref: '#/components/schemas/Allocation'}
        account: {$ref: '#/components/schemas/AccountReference'}
        metadata: {type: object, additionalProperties: true, x-max-bytes: 100}
        parent: {$ref: '#/components/schemas/Line'}
    Limit: {type: integer, minimum: 0, maximum: 10, exclusiveMaximum: true, nullable: true}
    Allocation:
      type: object
      additionalProperties: false
      required: [invoice_id, amount_cents]
      properties:
        invoice_id: {type: string, format: uuid}
        amount_cents: {type: integer, minimum: 1, maximum: 1000}
        on: {type: string, format: date}
    AccountReference:
      anyOf:
        - {type: object, required: [id], properties: {id: {type: string, format: uuid}}}
        - {type: object, required: [code], properties: {code: {type: string, maxLength: 3}}}
        - {type: string, maxLength: 3}
    Line:
      type: object
      additionalProperties: false
      properties:
        day: {type: string, format: date}
        lines: {type: array, maxItems: 3, items: {$ref: '#/components/schemas/Line'}}
"""

SHOP = "0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02"
ORDERS = f"/shops/{SHOP}/orders/"
JSON_HEADERS = ((b"content-type", b"application/json"),)


class AnyHandler(Resolver):
    """A resolver that returns the same handler for every operation."""

    def resolve_function_from_operation_id(self, operation_id: str) -> Any:
        async def answer() -> tuple[dict[str, str], int]:
            return {"operation": operation_id}, 200

        return answer


@dataclass
class Chain:
    """Routing and validation over a document, without handlers."""

    document: Mapping[str, Any]
    calls: list[Call] = field(default_factory=list)
    scopes: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.application = ConnexionMiddleware(
            self._end, middlewares=[Routing, Validation], resolver=AnyHandler()
        )
        self.application.add_api(dict(self.document))

    async def _end(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        self.calls.append(scope["call"])

    def ask(
        self,
        method: str,
        address: str,
        *chunks: bytes,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> Call:
        """Send one request; the address may have a query. Raises the errors of the chain."""
        path, _, query = address.partition("?")
        messages = [
            {"type": "http.request", "body": chunk, "more_body": index < len(chunks)}
            for index, chunk in enumerate(chunks or (b"",), start=1)
        ]
        if not chunks:
            messages[0]["more_body"] = False
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode("latin-1"),
            "headers": list(headers),
        }

        async def receive() -> Any:
            return messages.pop(0)

        async def send(_message: Any) -> None:
            raise AssertionError("Nothing answers in this chain.")

        asyncio.run(self.application(scope, receive, send))
        return self.calls[-1]


def small_chain() -> Chain:
    """Return a chain of the small contract."""
    return Chain(parse(SMALL_CONTRACT.encode()))
