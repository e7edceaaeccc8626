"""Stock Connexion over the same document, case by case: the intended differences only."""

import asyncio
import copy
import gc
import logging
import warnings
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import connexion
import pytest

from accounting.errors import ApiError
from server.contract.document import METHODS, Contract, parse, read_source
from server.http.errors import STATUS_OF_KIND
from tests.server.http.contract_chain import AnyHandler, Chain
from tests.server.http.differential_cases import Case, Cases

# By the variation of a request: the answer of stock Connexion, our answer, and the reason.
INTENDED = {
    "body: absent, optional": ("400", "200", "a body of no bytes is no body"),
    "form: valid": ("400", "200", "stock reads no JSON text in a form"),
    "multipart: valid": ("400", "200", "stock reads no JSON text in a form"),
    "no final slash": ("307", "200", "a redirect loses bodies and credentials"),
    "U+0000 in the path": ("200 400", "404", "no address of ours has it, and no store can hold it"),
    "path: no uuid": ("200", "400", "Draft 4 does not know the format"),
    "an unknown query parameter": ("200", "400", "a misspelt filter would list everything"),
    "query: given twice": ("200", "400", "two readers would believe different ones"),
    "form: a repeated scalar": ("200", "400", "two readers would believe different ones"),
    "query: a sign for int32": ("200", "400", "Python's int() takes it, no contract does"),
    "query: a space for int32": ("200", "400", "Python's int() takes it, no contract does"),
    "query: an underscore for int32": ("200", "400", "Python's int() takes it, no contract does"),
    "query: a sign for int64": ("200", "400", "Python's int() takes it, no contract does"),
    "query: a space for int64": ("200", "400", "Python's int() takes it, no contract does"),
    "query: an underscore for int64": ("200", "400", "Python's int() takes it, no contract does"),
    "query: words for uuid": ("200", "400", "Draft 4 does not know the format"),
    "query: capitals for boolean": ("200", "400", "JSON's true and false are the only spelling"),
    "query: words for date": ("200", "400", "Draft 4 does not know the format"),
    "query: 30 February for date": ("200", "400", "Draft 4 does not know the format"),
    "a body nobody asked for": ("200", "400", "what is sent is meant, and would be lost"),
    "type: a content encoding": ("200", "415", "bytes would be read as what they are not"),
    "type: charset bogus": ("200", "415", "bytes would be read as what they are not"),
    "type: none": ("200 400", "415", "stock skips validation and hands on bytes"),
    "json: 5000 digits": ("500", "400", "Python refuses to convert them"),
    "json: UTF-16": ("500", "400", "no bytes may be a fault of ours"),
    "json: invalid UTF-8": ("500", "400", "no bytes may be a fault of ours"),
    "json: depth 100000": ("500", "400", "the recursion limit is no answer"),
    "json: a repeated key": ("200", "400", "two readers would believe different ones"),
    "field: words for uuid": ("200", "400", "Draft 4 does not know the format"),
    "field: words for date": ("200", "400", "Draft 4 does not know the format"),
    "field: words for iban": ("200", "400", "the format is ours"),
    "field: words for timezone": ("200", "400", "the format is ours"),
    "field: 30 February": ("200", "400", "Draft 4 does not know the format"),
    "field: a local address": ("200", "400", "no customer can be reached there"),
    "field: past x-max-bytes": ("200", "400", "the keyword is ours"),
    "field: null, optional in a new object": ("400", "200", "generated clients omit fields so"),
    "multipart: cut short": ("200", "400", "stock drops what is not complete"),
    "multipart: no boundary": ("500", "400", "no bytes may be a fault of ours"),
}

Answers = dict[Case, tuple[str, str]]


def without_security(document: dict[str, Any]) -> dict[str, Any]:
    """Remove all security, and put literal paths first: stock serves the first match.

    In the document's order it would serve `invoices/payments/` as an invoice named payments.
    """
    opened = copy.deepcopy(document)
    opened.pop("security", None)
    opened["paths"] = dict(sorted(opened["paths"].items(), key=lambda item: variables(item[0])))
    for item in opened["paths"].values():
        for method in METHODS & item.keys():
            item[method]["security"] = []
    return opened


def variables(path: str) -> list[bool]:
    return [segment.startswith("{") for segment in path.split("/")]


class StockHandler(AnyHandler):
    def resolve_function_from_operation_id(self, operation_id: str) -> Any:
        async def answer(**_arguments: Any) -> Any:
            return {}, 200, {"Content-Type": "application/json"}

        return answer


async def status_of(application: Any, case: Case) -> str:
    """Return the status of an application's answer, `200` at the end of our chain."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": case.body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": case.method,
        "path": unquote(case.path),
        "raw_path": case.path.encode(),
        "root_path": "",
        "query_string": case.query,
        "headers": case.lines(),
        "server": ("test", 80),
        "scheme": "http",
        "extensions": {},
    }
    try:
        await application(scope, receive, send)
    except ApiError as refused:
        return str(STATUS_OF_KIND[type(refused)])
    return str(sent[0]["status"]) if sent else "200"


@pytest.fixture(scope="module")
def answers() -> Iterator[Answers]:
    document = parse(read_source())
    opened = without_security(document)
    stock = connexion.AsyncApp(__name__)
    stock.add_api(copy.deepcopy(opened), resolver=StockHandler())
    ours = Chain(opened).application

    async def ask_both() -> Answers:
        return {
            case: (await status_of(stock, case), await status_of(ours, case))
            for case in Cases(Contract(document))
        }

    logging.disable(logging.CRITICAL)  # Stock Connexion logs a traceback for each of its faults.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # It does not close uploaded files either.
        found = asyncio.run(ask_both())
        gc.collect()
    yield found
    logging.disable(logging.NOTSET)


class TestDifference:
    def test_we_differ_from_stock_connexion_only_where_we_mean_to(self, answers: Answers) -> None:
        unintended = {
            str(case): (stock, ours)
            for case, (stock, ours) in answers.items()
            if stock != ours
            and not (
                case.label in INTENDED
                and stock in INTENDED[case.label][0].split()
                and ours == INTENDED[case.label][1]
            )
        }
        assert unintended == {}

    def test_every_intended_difference_is_one(self, answers: Answers) -> None:
        different = {case.label for case, (stock, ours) in answers.items() if stock != ours}
        assert set(INTENDED) == different

    def test_every_operation_is_asked_and_takes_its_own_example(self, answers: Answers) -> None:
        valid = {case.operation_id: both for case, both in answers.items() if case.label == "valid"}
        assert set(valid) == set(Contract.load().operations)
        assert set(valid.values()) == {("200", "200")}

    def test_nothing_is_ever_a_fault_of_ours(self, answers: Answers) -> None:
        ours = {answer for _, answer in answers.values()}
        assert ours == {"200", "400", "404", "405", "415"}

    def test_most_rules_have_an_accepted_and_a_refused_case(self, answers: Answers) -> None:
        agreed = {case.label for case, (stock, ours) in answers.items() if stock == ours}
        assert agreed >= {
            "field: unknown, closed",
            "field: left out, required",
            "field: left out, optional",
            "field: null, nullable",
            "field: null, not nullable",
            "field: past the maximum",
            "field: below the minimum",
            "field: 5.0 for an integer",
            "field: too long",
            "field: too many items",
            "field: none of the enum",
            "form: valid",
            "multipart: valid",
            "type: capitals",
        }
