"""Generator of a TypeScript method for each operation: `python -m
tools.clients.typescript_operations`.

It prints a module for the folder of `tools/clients/typescript/calls.ts` and `contract.ts`, the
types of openapi-typescript. Operations of the tags Access, Businesses and Sandboxes, and those
without a business in their path, become methods of the partner, all others methods of a business.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import indent
from typing import Any, Final

from server.contract.document import JSON, METHODS, parse, read_source
from server.contract.published import published
from server.docs.reference.fields import Describer

Node = Mapping[str, Any]

HEAD: Final = """\
// The operations of the contract by their ids, as methods.
import type { Filters, Given, Keyed, Matched, Query } from "./calls.js";
import { Operations } from "./calls.js";
import type * as models from "./contract.js";
"""
CLASSES: Final = (
    (True, "/** What a partner may do with its businesses. */", "class PartnerOperations", ""),
    (
        False,
        "/** What may be done in one business. */",
        "abstract class BusinessOperations",
        "  abstract readonly businessId: string;\n",
    ),
)
PARTNERS_TAGS: Final = ("Access", "Businesses", "Sandboxes")
# The session requests tokens itself and does not expose them, so none can be revoked.
UNSEEN: Final = {"issue_partner_token", "issue_business_token", "revoke_token"}
KEY: Final = "Idempotency-Key"
BY_HEADER: Final = {KEY: "Keyed", "If-Match": "Matched"}


class Method:
    """An operation as a method: the ids of its path, then the body, then its options."""

    def __init__(self, describer: Describer, path: str, verb: str, item: Node) -> None:
        self.describer = describer
        self.path = path
        self.verb = verb
        self.operation = item[verb]
        self.parameters = describer.parameters(item, self.operation)
        self.id = self.operation["operationId"]
        # A list with a cursor becomes an iterator; a feed has none.
        has_cursor = any(each["name"] == "cursor" for each in self.parameters)
        self.is_walk = self.id.startswith("list_") and has_cursor

    @property
    def is_a_partners(self) -> bool:
        """Return whether the operation belongs to the partner and not to one business."""
        return is_a_partners(self.path, self.operation)

    @property
    def takes_key(self) -> bool:
        """Return whether the operation takes an Idempotency-Key."""
        return any(each["name"] == KEY for each in self.parameters)

    def written(self) -> str:
        """Return the TypeScript source of the method."""
        ids = {name: self._id(name) for name in re.findall(r"{(\w+)}", self.path)}
        takes = [f"{word}: string" for word in ids.values() if not word.startswith("this.")]
        takes += [*self._body(), f"given: {self._given()} = {{}}"]
        filled = ", ".join(
            name if name == word else f"{name}: {word}" for name, word in ids.items()
        )
        return (
            f"\n{indent(self._told(), '  ')}"
            f"  {camel(self.id)}({', '.join(takes)}): {self._returns()} {{\n"
            f"    return this.{self._call(f'{{ {filled} }}' if filled else '{}')};\n"
            "  }\n"
        )

    def _id(self, name: str) -> str:
        is_own = name == "business_id" and not self.is_a_partners
        return "this.businessId" if is_own else camel(name)

    def _told(self) -> str:
        """Return the summary and description of the operation as a comment."""
        text = f"{self.operation['summary']}.\n\n{self.operation.get('description', '')}".strip()
        lines = "".join(f" * {line}".rstrip() + "\n" for line in text.splitlines())
        return f"/**\n{lines} */\n"

    def _body(self) -> Iterator[str]:
        body = self.operation.get("requestBody")
        if body is None:
            return
        content = body["content"]
        schema = content[JSON if JSON in content else next(iter(content))]["schema"]
        files = self._files(schema)
        kind = model(schema)
        for name in files:
            kind = f'Omit<{kind}, "{name}"> & {{ {name}: Blob }}'
        yield f"body{'' if body.get('required') else '?'}: {kind}"

    def _files(self, schema: Node) -> list[str]:
        fields = self.describer.shape(schema)["properties"].items()
        return [name for name, field in fields if field.get("format") == "binary"]

    def _given(self) -> str:
        headers = [BY_HEADER[each["name"]] for each in self.parameters if each["in"] == "header"]
        if any(each["in"] == "query" for each in self.parameters):
            headers.append(f'{"Filters" if self.is_walk else "Query"}<"{self.id}">')
        return " & ".join([*headers, *(() if "Keyed" in headers else ("Given",))])

    def _returns(self) -> str:
        schema = self._answer()
        if schema is None:
            return f"Promise<{'Blob' if self._is_binary else 'string'}>"
        kind = model(schema)
        return f'AsyncGenerator<{kind}["results"][number]>' if self.is_walk else f"Promise<{kind}>"

    def _answer(self) -> Node | None:
        """Return the schema of the first successful response; None if that is a file."""
        return self._content[JSON]["schema"] if JSON in self._content else None

    @property
    def _content(self) -> Node:
        answers = self.operation["responses"]
        first = next(status for status in answers if status.startswith("2"))
        content: Node = self.describer.follow(answers[first])["content"]
        return content

    @property
    def _is_binary(self) -> bool:
        """Return whether the file in the response is binary, and not text."""
        return not any(each.startswith("text/") for each in self._content)

    def _call(self, ids: str) -> str:
        if self.is_walk:
            return f'walk("{self.path}", {ids}, given)'
        body = "requestBody" in self.operation
        words = [f'"{self.verb}"', f'"{self.path}"', ids, "given", *(["body"] if body else [])]
        if self._answer() is None:
            words += ["undefined", '"blob"' if self._is_binary else '"text"']
        return f"call({', '.join(words)})"


def keyed(methods: Iterable[Method]) -> str:
    """Return the TypeScript source of the list of operations that take an Idempotency-Key."""
    listed = "".join(
        f'  "{each.verb.upper()} {each.path}",\n' for each in methods if each.takes_key
    )
    told = "The operations that take an `Idempotency-Key`, as method and path."
    return f"/** {told} */\nexport const KEYED = [\n{listed}];\n"


def is_a_partners(path: str, operation: Node) -> bool:
    """Return whether an operation belongs to the partner and not to one business."""
    return operation["tags"][0] in PARTNERS_TAGS or "{business_id}" not in path


def model(schema: Node) -> str:
    """Return the name of the type of a schema; each object of the contract has a name."""
    return f"models.{schema['$ref'].rpartition('/')[2]}"


def camel(name: str) -> str:
    """Convert a name to camel case: `create_invoice` becomes createInvoice."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def main() -> None:
    """Print both classes."""
    describer = Describer(parse(published(read_source())))
    methods = [
        Method(describer, path, verb, item)
        for path, item in describer.document["paths"].items()
        for verb in item
        if verb in METHODS and item[verb]["operationId"] not in UNSEEN
    ]
    print(HEAD)
    print(keyed(methods))
    for is_a_partners, told, name, kept in CLASSES:
        own = "".join(each.written() for each in methods if each.is_a_partners == is_a_partners)
        print(f"{told}\nexport {name} extends Operations {{\n{kept}{own}}}\n")


if __name__ == "__main__":
    main()
