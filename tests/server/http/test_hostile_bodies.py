"""The time for which a hostile body blocks the event loop."""

import gc
import time
from collections.abc import Iterator
from typing import Any

import pytest

from accounting.errors import ValidationError
from server.contract.document import parse, read_source
from server.http.connexion_adapter import schema_check_skipped
from tests.server.http.contract_chain import JSON_HEADERS, Chain

LONGEST_SECONDS = 0.05
MEBIBYTE = 1024 * 1024
MOST_VALUES = 19_900  # Nearly as many as a body may have.

BOOKS = "/v1/platform/businesses/0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02/"
INVOICES, CUSTOMERS = f"{BOOKS}invoices/", f"{BOOKS}customers/"
ACCOUNTS, PAYMENTS = f"{BOOKS}general-ledger/chart-of-accounts/", f"{INVOICES}payments/"
PAYMENT = f"{PAYMENTS}0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b03/"
TOKEN = "/v1/platform/oauth2/token/"

URLENCODED = ((b"content-type", b"application/x-www-form-urlencoded"),)
MULTIPART = ((b"content-type", b"multipart/form-data; boundary=cut"),)


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    """The whole contract, without garbage collection of the existing objects."""
    with schema_check_skipped():
        chain = Chain(parse(read_source()))
    gc.collect()
    gc.freeze()
    yield chain
    gc.unfreeze()  # Otherwise later cycles among frozen objects are never freed.
    gc.collect()
    gc.freeze()


def filled(unit: bytes, start: bytes = b"[", end: bytes = b"]", most: int = MEBIBYTE) -> bytes:
    """Return as many units as fit into a mebibyte, at most `most`."""
    count = min(most, (MEBIBYTE - len(start) - len(end)) // (len(unit) + 1))
    return start + b",".join([unit] * count) + end


def names(value: bytes, start: bytes = b"{", end: bytes = b"}", most: int = MEBIBYTE) -> bytes:
    """Return an object with as many names as fit into a mebibyte, at most `most`."""
    count = min(most, (MEBIBYTE - len(start) - len(end)) // (len(value) + 11))
    return start + b",".join(b'"k%06d":%b' % (number, value) for number in range(count)) + end


def long(field: bytes, text: bytes) -> bytes:
    """Return an object with one long text, a mebibyte in all."""
    return b'{"%b":"%b"}' % (field, (text * MEBIBYTE)[: MEBIBYTE - len(field) - 7])


def parts(count: int, content: bytes) -> bytes:
    """Return a multipart form with `count` parts of one name."""
    head = b'--cut\r\nContent-Disposition: form-data; name="allocations"\r\n\r\n'
    return (head + content + b"\r\n") * count + b"--cut--\r\n"


LINES = b'{"line_items":['
WRONG_LINE = b'{"description":0,"unit_amount":"x","quantity":[],"tags":[0,0],"tax_rate":{},"x":1}'

# Each is built in its test: together they take 35 MB.
JSON_BODIES = {
    "empty lines": (INVOICES, lambda: filled(b"{}", LINES, b"]}")),
    "as many empty lines as may be": (
        INVOICES,
        lambda: filled(b"{}", LINES, b"]}", MOST_VALUES // 2),
    ),
    "wrong lines, not too many": (INVOICES, lambda: filled(WRONG_LINE, LINES, b"]}", 500)),
    "empty lists of lists": (INVOICES, lambda: filled(b"[{}]")),
    "too many numbers": (INVOICES, lambda: filled(b"0")),
    "too many texts": (INVOICES, lambda: filled(b'""')),
    "a deep list in each of its items": (INVOICES, lambda: filled(b"[" * 20 + b"]" * 20)),
    "one line of many tags": (
        INVOICES,
        lambda: filled(b"0", b'{"line_items":[{"tags":[', b"]}]}", 19_000),
    ),
    "unknown fields": (INVOICES, lambda: names(b"0")),
    "unknown fields with objects": (INVOICES, lambda: names(b"{}", most=MOST_VALUES // 2)),
    "metadata": (INVOICES, lambda: names(b"{}", b'{"metadata":{', b"}}", MOST_VALUES // 2)),
    "an object for a list": (
        INVOICES,
        lambda: names(b"{}", b'{"line_items":{', b"}}", MOST_VALUES // 2),
    ),
    "references": (PAYMENTS, lambda: names(b"{}", b'{"references":{', b"}}", MOST_VALUES // 2)),
    "a long email": (CUSTOMERS, lambda: long(b"email", b"a.")),
    "a long text": (CUSTOMERS, lambda: long(b"notes", b" ")),
    "a long name": (CUSTOMERS, lambda: b'{"%b":0}' % (b"n" * (MEBIBYTE - 6))),
    "a long IBAN": (ACCOUNTS, lambda: long(b"iban", b"GB1")),
    "a long number": (ACCOUNTS, lambda: b'{"code":%b}' % (b"1" * (MEBIBYTE - 9))),
    "a long date": (INVOICES, lambda: long(b"issue_date", b"2025-01-31")),
}

FORMS = {
    "escapes": ("POST", TOKEN, URLENCODED, lambda: b"scope=" + b"%41" * (MEBIBYTE // 3 - 2)),
    "too many fields": ("POST", TOKEN, URLENCODED, lambda: b"a=b&" * (MEBIBYTE // 4)),
    "too many parts": ("PATCH", PAYMENT, MULTIPART, lambda: parts(MEBIBYTE // 70, b"")),
    "many parts of many values": (
        "PATCH",
        PAYMENT,
        MULTIPART,
        lambda: parts(999, filled(b"{}", most=300)),
    ),
    "line breaks in a part": (
        "PATCH",
        PAYMENT,
        MULTIPART,
        lambda: parts(1, b"\r\n--cu" * (MEBIBYTE // 7)),
    ),
}


def seconds(chain: Chain, method: str, address: str, headers: Any, body: bytes) -> float:
    """Return the processor time of refusing a body, the least of six tries.

    Other processes on the same core make a try longer.
    """
    taken = []
    for _ in range(6):
        began = time.thread_time()
        with pytest.raises(ValidationError):
            chain.ask(method, address, body, headers=headers)
        taken.append(time.thread_time() - began)
    return min(taken)


class TestSeconds:
    @pytest.mark.parametrize("name", JSON_BODIES)
    def test_json_is_refused_before_others_notice(self, chain: Chain, name: str) -> None:
        address, made = JSON_BODIES[name]
        body = made()
        assert len(body) <= MEBIBYTE
        assert seconds(chain, "POST", address, JSON_HEADERS, body) < LONGEST_SECONDS

    @pytest.mark.parametrize("name", FORMS)
    def test_a_hostile_form_is_parsed_in_time(self, chain: Chain, name: str) -> None:
        *asked, made = FORMS[name]
        assert seconds(chain, *asked, made()) < LONGEST_SECONDS


def field_errors(chain: Chain, address: str, body: bytes) -> dict[str, Any]:
    with pytest.raises(ValidationError) as caught:
        chain.ask("POST", address, body, headers=JSON_HEADERS)
    found: dict[str, Any] = caught.value.detail["field_errors"]
    return found


class TestFaults:
    def test_a_hundred_are_told(self, chain: Chain) -> None:
        found = field_errors(chain, INVOICES, filled(WRONG_LINE, LINES, b"]}", 500))
        assert len(found) == 100
        assert found["line_items.0.tags.1"] == ["must be a string"]

    def test_too_many_items_are_the_only_fault_of_their_field(self, chain: Chain) -> None:
        found = field_errors(chain, INVOICES, filled(b"{}", b'{"line_items":[', b"]}", 501))
        assert found == {
            "customer_id": ["customer_id or customer_external_id is required"],
            "line_items": ["must have at most 500 items"],
        }

    def test_a_fault_behind_many_valid_items_is_found(self, chain: Chain) -> None:
        good = b'{"description":"x","unit_price":1,"quantity":1}'
        body = filled(good, b'{"customer_external_id":"c","line_items":[', b",5]}", 499)
        assert field_errors(chain, INVOICES, body) == {"line_items.499": ["must be an object"]}
