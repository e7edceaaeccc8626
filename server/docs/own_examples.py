"""Examples of the errors that each operation can return, derived from its documentation.

Operations share most responses, and with them their examples: an invoice would show the error of a
payment. By hand each example would be repeated more than a hundred times.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import chain
from typing import Any, Final

from accounting.errors import ValidationError
from server.contract.document import JSON, Contract, Operation
from server.docs.reference.calls import examples
from server.docs.reference.codes import ErrorCode, codes_of, error_codes, operations, refusals
from server.docs.reference.fields import Describer
from server.http.explanations import Explainers
from server.http.field_errors import Faults
from server.http.parameters import compile_reader
from server.http.schemas import SchemaCompiler

Document = dict[str, Any]
Examples = dict[str, Any]

INVALID: Final = "validation_error"
TOLD_BY_CODES: Final = ("404", "409", "422")
# No parameter accepts WRONG_TEXT unless it is plain text; no text, number or list field accepts
# WRONG_VALUE.
WRONG_TEXT: Final = "?"
WRONG_VALUE: Final[Mapping[str, Any]] = {}


def with_own_examples(document: Document) -> Document:
    """Show at 400, 404, 409 and 422 of each operation only the errors that it can return."""
    return OwnExamples(document).document()


class OwnExamples:
    """The examples of one contract by operation and status."""

    def __init__(self, document: Document) -> None:
        self._source = document
        self._describer = Describer(document)
        self._codes = dict(self._read_codes())
        self._spread = Counter(code.name for codes in self._codes.values() for code in codes)
        # The first of several examples of a code.
        shown = reversed([*refusals(document)])
        self._names = {value["error_code"]: name for name, value in shown}
        self._faults = FirstFaults(document)

    def document(self) -> Document:
        """Return a copy of the contract with these examples."""
        changed = deepcopy(self._source)
        for operation in operations(changed):
            self._show(operation)
        return changed

    def _read_codes(self) -> Iterator[tuple[str, list[ErrorCode]]]:
        codes = error_codes(self._source)
        for item in self._source["paths"].values():
            for node in item.values():
                if isinstance(node, dict):
                    parameters = self._describer.parameters(item, node)
                    named = codes_of(node, parameters, codes, self._describer)
                    yield node["operationId"], named

    def _show(self, operation: Mapping[str, Any]) -> None:
        """Replace the shared responses of an operation with its own."""
        answers = operation["responses"]
        for status in answers.keys() & {"400", *TOLD_BY_CODES}:
            answers[status] = deepcopy(self._describer.follow(answers[status]))
            content = answers[status]["content"][JSON]
            content["examples"] = self._own(operation["operationId"], status, content["examples"])

    def _own(self, name: str, status: str, shown: Examples) -> Examples:
        """Return the examples of a response; the existing ones if there are no better ones."""
        if status in TOLD_BY_CODES:
            return self._of_codes(name, int(status))
        return self._of_fault(name, shown[INVALID]) if INVALID in shown else shown

    def _of_codes(self, name: str, status: int) -> Examples:
        """Return references to the examples of the operation's codes, the rarest first."""
        codes = [code for code in self._codes[name] if code.status == status]
        return {
            code.name: {"$ref": f"#/components/examples/{self._names[code.name]}"}
            for code in sorted(codes, key=self._spread_of)
            if code.name in self._names
        }

    def _spread_of(self, code: ErrorCode) -> int:
        return self._spread[code.name]

    def _of_fault(self, name: str, shown: Mapping[str, Any]) -> Examples:
        """Return an example that refuses one of the operation's own fields or parameters."""
        refusal = ValidationError.with_faults(self._faults.of(name))
        told = {"message": refusal.message, "detail": refusal.detail}
        return {INVALID: {"value": {**self._describer.follow(shown)["value"], **told}}}


class FirstFaults:
    """The first validation errors that the server reports for almost valid requests."""

    def __init__(self, document: Document) -> None:
        self._contract = Contract(document)
        self._describer = Describer(document)
        self._compiler = SchemaCompiler(self._contract)
        self._explainers = Explainers(self._compiler)

    def of(self, name: str) -> Faults:
        """Return the first fault of an operation's body, or of a parameter if it has no body."""
        operation = self._contract.operations[name]
        return next(chain(self._of_body(operation), self._of_parameters(operation)))

    def _of_body(self, operation: Operation) -> Iterator[Faults]:
        """Explain the first example of the body without a field, or with an invalid field."""
        body = self._describer.follow(operation.document.get("requestBody", {}))
        for content_type, schema in operation.bodies.items():
            for _, example in examples(body["content"][content_type], self._describer):
                for value in nearly(example):
                    if not self._compiler.validator(schema).is_valid(value):
                        faults: Faults = {}
                        self._explainers.of(schema).explain(value, faults)
                        yield faults

    def _of_parameters(self, operation: Operation) -> Iterator[Faults]:
        """Explain an invalid text as a parameter, query first, then the path from its end."""
        given = [each for each in operation.parameters if each.deprecation is None]
        query = [each for each in given if each.place == "query"]
        path = [each for each in reversed(given) if each.place == "path"]
        for parameter in (*query, *path):
            faults: Faults = {}
            compile_reader(parameter, self._compiler).value([WRONG_TEXT], faults)
            if faults:
                yield faults


def nearly(example: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the body without each of its fields, and then with an invalid value in each."""
    for name in example:
        yield {key: value for key, value in example.items() if key != name}
    for name in example:
        yield {**example, name: WRONG_VALUE}
