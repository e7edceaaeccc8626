from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
import pytest
from email_validator import validate_email
from hypothesis import given
from hypothesis import strategies as st

from accounting.errors import ValidationError
from server.contract.formats import (
    COMMON_EMAIL,
    COMMON_EMAIL_CHARACTERS,
    decode_date,
    decode_date_time,
    is_cursor,
    is_email,
    is_iban,
)
from tests.server.http.contract_chain import JSON_HEADERS, ORDERS, SHOP, Chain, small_chain

LIST = f"{ORDERS}?needed=1&"
INVOICE = "0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a03"
IN_MINOR_UNITS = "in minor units: 10.50 is 1050"
NOT_WHOLE = ("%2B1", "+1", "1_0", "%201", "01", "1.0", "1e1", "0x1", "%D9%A1", "")
A_UUID = "must be a UUID, such as 0192f0c1-7b1a-7c3e-8f00-4d1c5a2b9e10"


@pytest.fixture(scope="module")
def chain() -> Chain:
    return small_chain()


def faults(chain: Chain, method: str, address: str, *chunks: bytes, headers: Any = ()) -> Any:
    with pytest.raises(ValidationError) as caught:
        chain.ask(method, address, *chunks, headers=headers)
    assert caught.value.code == "validation_error"
    return caught.value.detail["field_errors"]


def post(chain: Chain, **body: Any) -> Any:
    return chain.ask("POST", ORDERS, orjson.dumps(body), headers=JSON_HEADERS).body


def post_faults(chain: Chain, **body: Any) -> Any:
    body.setdefault("amount_cents", 1)
    return faults(chain, "POST", ORDERS, orjson.dumps(body), headers=JSON_HEADERS)


class TestPath:
    def test_ids_arrive_as_values(self, chain: Chain) -> None:
        assert chain.ask("GET", f"{ORDERS}17/").path == {"shop_id": UUID(SHOP), "order_id": "17"}

    @pytest.mark.parametrize("shop", [f"urn:uuid:{SHOP}", SHOP[:-1]])
    def test_a_malformed_id_is_a_fault_of_its_name(self, chain: Chain, shop: str) -> None:
        assert list(faults(chain, "GET", f"/shops/{shop}/orders/17/")) == ["shop_id"]

    def test_an_id_may_be_in_capitals(self, chain: Chain) -> None:
        assert chain.ask("GET", f"/shops/{SHOP.upper()}/orders/17/").path["shop_id"] == UUID(SHOP)


class TestQuery:
    def test_defaults_are_filled_in_and_decoded(self, chain: Chain) -> None:
        assert chain.ask("GET", f"{ORDERS}?needed=").query == {
            "needed": "",
            "page": 1,
            "day": date(2025, 1, 31),
        }

    @pytest.mark.parametrize(
        ("query", "name", "value"),
        [
            ("page=7", "page", 7),
            ("open=false", "open", False),
            ("open=true&&", "open", True),
            ("since=2025-01-31T12:00:00%2B02:00", "since", datetime(2025, 1, 31, 10, tzinfo=UTC)),
            ("since=2025-01-31T12:00:00.5Z", "since", datetime(2025, 1, 31, 12, 0, 0, 500000, UTC)),
            ("day=2024-02-29", "day", date(2024, 2, 29)),
            ("rate=12.5", "rate", Decimal("12.5")),
            ("rate=7", "rate", Decimal(7)),
            ("rate=1.2e-38", "rate", Decimal("1.2e-38")),
            ("search=a+b%20c", "search", "a b c"),
            ("search=%C3%A9", "search", "é"),
            ("search=a=b", "search", "a=b"),
            ("%73earch=x", "search", "x"),
            (f"ids={SHOP}", "ids", [UUID(SHOP)]),
            (f"ids={SHOP},{INVOICE}", "ids", [UUID(SHOP), UUID(INVOICE)]),
            (f"ids={SHOP}%2C{INVOICE}", "ids", [UUID(SHOP), UUID(INVOICE)]),
            ("tag=a,b&tag=c", "tag", ["a,b", "c"]),
            ("cursor=abc-_09", "cursor", "abc-_09"),
        ],
    )
    def test_text_becomes_a_value(self, chain: Chain, query: str, name: str, value: Any) -> None:
        found = chain.ask("GET", LIST + query).query[name]
        assert found == value
        assert type(found) is type(value)

    @pytest.mark.parametrize(
        "query", ["ids={0},{1},{0}", "ids={0}&ids={1}&ids={0}", "ids={0},{1}&ids={0}"]
    )
    def test_a_list_is_separated_by_commas_or_repeats_its_name(
        self, chain: Chain, query: str
    ) -> None:
        found = chain.ask("GET", LIST + query.format(SHOP, INVOICE)).query["ids"]
        assert found == [UUID(SHOP), UUID(INVOICE), UUID(SHOP)]

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            *((f"page={text}", {"page": ["must be an integer"]}) for text in NOT_WHOLE),
            ("page", {"page": ["must be an integer"]}),
            ("page=" + "9" * 5000, {"page": ["must be an integer"]}),
            ("page=0", {"page": ["must be at least 1"]}),
            ("page=1001", {"page": ["must be at most 1000"]}),
            ("page=1&page=1", {"page": ["is given more than once"]}),
            ("open=TRUE", {"open": ["must be true or false"]}),
            ("open=1", {"open": ["must be true or false"]}),
            ("rate=nan", {"rate": ["must be a number"]}),
            ("rate=1e999", {"rate": ["must be a number"]}),
            ("rate=101", {"rate": ["must be at most 100"]}),
            ("search=", {"search": ["must not be empty"]}),
            ("search=" + "x" * 21, {"search": ["must have at most 20 characters"]}),
            ("unknown=1", {"unknown": ["is not a known parameter"]}),
            ("x" * 5000 + "=1", {"x" * 64: ["is not a known parameter"]}),
            ("ids=x", {"ids.0": [A_UUID]}),
            ("ids=", {"ids.0": [A_UUID]}),
            (f"ids={SHOP}&ids=x", {"ids.1": [A_UUID]}),
            ("ids=" + ",".join([SHOP] * 101), {"ids": ["must have at most 100 items"]}),
            ("tag=a&tag=b&tag=c&tag=d", {"tag": ["must have at most 3 items"]}),
            ("cursor=%3D", {"cursor": ["must be a cursor from page_info.next_cursor"]}),
        ],
        ids=lambda value: str(value)[:30],
    )
    def test_an_invalid_parameter_is_named(
        self, chain: Chain, query: str, expected: dict[str, list[str]]
    ) -> None:
        assert faults(chain, "GET", LIST + query) == expected

    @pytest.mark.parametrize(
        "since", ["2025-01-31", "2025-01-31T12:00:00", "2025-01-31T12:00:00+02:00", "yesterday"]
    )
    def test_a_moment_needs_its_offset_and_an_escaped_plus(self, chain: Chain, since: str) -> None:
        assert list(faults(chain, "GET", f"{LIST}since={since}")) == ["since"]

    def test_all_faults_come_at_once(self, chain: Chain) -> None:
        found = faults(chain, "GET", "/shops/7/orders/?page=0&open=x&zzz=1")
        assert set(found) == {"shop_id", "page", "open", "zzz", "needed"}
        assert found["needed"] == ["is required"]

    @pytest.mark.parametrize(
        "query", ["search=%zz", "search=%", "search=%ff", "%00=1", "search=%00"]
    )
    def test_broken_text_is_a_bad_request(self, chain: Chain, query: str) -> None:
        with pytest.raises(ValidationError) as caught:
            chain.ask("GET", LIST + query)
        assert caught.value.code == "bad_request"


class TestHeaders:
    def ask(self, chain: Chain, *headers: tuple[bytes, bytes]) -> Any:
        body = b'{"amount_cents": 1}'
        return chain.ask("POST", ORDERS, body, headers=(*JSON_HEADERS, *headers))

    def test_the_two_headers_of_operations_are_passed_on(self, chain: Chain) -> None:
        call = self.ask(chain, (b"idempotency-key", b"abc"), (b"if-match", b'"3"'))
        assert (call.idempotency_key, call.if_match) == ("abc", '"3"')
        assert self.ask(chain).idempotency_key is None

    def test_a_header_the_operation_does_not_take_is_ignored(self, chain: Chain) -> None:
        headers = ((b"idempotency-key", b"x" * 999),)
        assert chain.ask("GET", f"{ORDERS}17/", headers=headers).idempotency_key is None


class TestBody:
    def test_values_are_decoded_at_any_depth(self, chain: Chain) -> None:
        body = post(
            chain,
            amount_cents=1500,
            customer_id=INVOICE,
            due_date="2025-01-31",
            paid_at="2025-01-31T23:30:00-02:00",
            quantity=0.1,
            allocations=[{"invoice_id": INVOICE, "amount_cents": 5, "on": "2025-02-01"}],
            parent={"day": "2025-01-01", "lines": [{"day": "2025-01-02"}, {}]},
            account={"id": INVOICE},
            metadata={"day": "2025-01-31", "id": INVOICE, "rate": 0.1},
        )
        assert body == {
            "amount_cents": 1500,
            "customer_id": UUID(INVOICE),
            "due_date": date(2025, 1, 31),
            "paid_at": datetime(2025, 2, 1, 1, 30, tzinfo=UTC),
            "quantity": Decimal("0.1"),
            "allocations": [
                {"invoice_id": UUID(INVOICE), "amount_cents": 5, "on": date(2025, 2, 1)}
            ],
            "parent": {"day": date(2025, 1, 1), "lines": [{"day": date(2025, 1, 2)}, {}]},
            "account": {"id": UUID(INVOICE)},
            "metadata": {"day": "2025-01-31", "id": INVOICE, "rate": 0.1},
        }

    def test_null_stays_null_where_it_is_allowed(self, chain: Chain) -> None:
        body = post(chain, amount_cents=1, customer_id=None, limit_cents=None)
        assert body == {"amount_cents": 1, "customer_id": None, "limit_cents": None}

    def test_null_of_a_new_object_is_an_omission_at_every_depth(self, chain: Chain) -> None:
        body = post(
            chain,
            amount_cents=1,
            customer_id=None,
            due_date=None,
            quantity=None,
            tags=None,
            account=None,
            allocations=[{"invoice_id": INVOICE, "amount_cents": 5, "on": None}],
            parent={"day": None, "lines": [{"lines": None}, {"day": "2025-01-02", "lines": []}]},
            metadata={"day": None},
        )
        assert body == {
            "amount_cents": 1,
            "customer_id": None,
            "allocations": [{"invoice_id": UUID(INVOICE), "amount_cents": 5}],
            "parent": {"lines": [{}, {"day": date(2025, 1, 2), "lines": []}]},
            "metadata": {"day": None},
        }

    def test_null_is_no_value_of_a_required_field_an_item_or_an_unknown_one(
        self, chain: Chain
    ) -> None:
        found = post_faults(
            chain, amount_cents=None, tags=[None], allocations=[{"invoice_id": None}], extra=None
        )
        assert found == {
            "amount_cents": [f"must be an integer {IN_MINOR_UNITS}"],
            "tags.0": ["must be a string"],
            "allocations.0.invoice_id": ["must be a string"],
            "allocations.0.amount_cents": ["is required"],
            "extra": ["is not a known field"],
        }

    def test_null_in_a_change_is_an_omission_in_items_of_lists_only(self, chain: Chain) -> None:
        def change(**fields: Any) -> bytes:
            return orjson.dumps({"amount_cents": 1, **fields})

        latest = f"{ORDERS}latest/"
        lines = change(allocations=[{"invoice_id": INVOICE, "amount_cents": 5, "on": None}])
        call = chain.ask("PATCH", latest, lines, headers=JSON_HEADERS)
        assert call.body["allocations"] == [{"invoice_id": UUID(INVOICE), "amount_cents": 5}]
        body = change(due_date=None, parent={"day": None})
        found = faults(chain, "PATCH", latest, body, headers=JSON_HEADERS)
        assert found == {"due_date": ["must be a string"], "parent.day": ["must be a string"]}

    def test_all_faults_come_at_once_with_those_of_the_address(self, chain: Chain) -> None:
        body = orjson.dumps(
            {"allocations": [{"amount_cents": 0}, {"invoice_id": 1, "x": 2}], "unknown": True}
        )
        found = faults(chain, "POST", "/shops/7/orders/?q=1", body, headers=JSON_HEADERS)
        assert found == {
            "shop_id": [A_UUID],
            "q": ["is not a known parameter"],
            "amount_cents": ["is required"],
            "allocations.0.invoice_id": ["is required"],
            "allocations.0.amount_cents": ["must be at least 1"],
            "allocations.1.amount_cents": ["is required"],
            "allocations.1.invoice_id": ["must be a string"],
            "allocations.1.x": ["is not a known field"],
            "unknown": ["is not a known field"],
        }

    @pytest.mark.parametrize(
        ("field", "value", "words"),
        [
            ("amount_cents", 5.0, f"must be an integer {IN_MINOR_UNITS}"),
            ("amount_cents", "5", f"must be an integer {IN_MINOR_UNITS}"),
            ("amount_cents", True, f"must be an integer {IN_MINOR_UNITS}"),
            ("amount_cents", None, f"must be an integer {IN_MINOR_UNITS}"),
            ("amount_cents", 0, "must be at least 1"),
            ("limit_cents", 10, "must be less than 10"),
            ("limit_cents", "x", f"must be an integer or null {IN_MINOR_UNITS}"),
            ("quantity", 0.0000001, "must have at most 6 decimals"),
            ("customer_id", "x", A_UUID),
            ("due_date", "2023-02-30", "must be a date between 1900 and 2199, such as 2025-01-31"),
            ("email", "a@b", "must be an email address"),
            ("iban", "DE00", "must be an IBAN"),
            ("name", " x", "must not begin blank"),
            ("name", "x" * 11, "must have at most 10 characters"),
            ("kind", "gold", "must be one of: goods, service"),
            ("kind", 5, "must be one of: goods, service"),
            ("sent", 1, "must be true or false"),
            ("tags", ["a", "a"], "must not have the same item twice"),
            ("tags", "a", "must be a list"),
            ("metadata", [], "must be an object"),
            ("metadata", {"a": "x" * 100}, "must be at most 100 bytes of JSON"),
        ],
    )
    def test_each_rule_has_its_words(
        self, chain: Chain, field: str, value: Any, words: str
    ) -> None:
        assert post_faults(chain, **{field: value}) == {field: [words]}

    def test_fields_that_exclude_each_other_are_named(self, chain: Chain) -> None:
        found = post_faults(chain, email="a@example.com", iban="DE89370400440532013000")
        assert found == {"iban": ["give an email or an IBAN"]}

    @pytest.mark.parametrize(
        ("account", "expected"),
        [
            ("long", {"account": ["must have at most 3 characters"]}),
            ({"id": "x"}, {"account.id": [A_UUID]}),
            (5, {"account": ["must be an object or a string"]}),
        ],
    )
    def test_a_choice_is_explained_by_its_closest_branch(
        self, chain: Chain, account: Any, expected: Any
    ) -> None:
        assert post_faults(chain, account=account) == expected

    def test_a_choice_is_decoded_by_the_branch_that_took_it(self, chain: Chain) -> None:
        assert post(chain, amount_cents=1, account={"code": "x"})["account"] == {"code": "x"}
        assert post(chain, amount_cents=1, account="abc")["account"] == "abc"

    def test_a_body_that_is_no_object_is_told_as_body(self, chain: Chain) -> None:
        for raw in (b"[]", b"null", b"5", b'"x"'):
            found = faults(chain, "POST", ORDERS, raw, headers=JSON_HEADERS)
            assert found == {"body": ["must be an object"]}

    def test_no_value_is_repeated(self, chain: Chain) -> None:
        secret = "s3cret" * 1000
        found = post_faults(
            chain, kind=secret, name=secret, due_date=secret, tags=[secret], limit_cents=secret
        )
        assert "s3cret" not in str(found)
        name = max(post_faults(chain, **{secret: 1}), key=len)
        assert len(name) == 64


class TestFormats:
    @pytest.mark.parametrize(
        "text",
        [
            "2023-02-30", "1899-12-31", "2200-01-01", "20250131", "2025-1-31", "2025-W05-5",
            "2025-031", " 2025-01-31", "2025-01-31 ", "\u0662025-01-31", "now", "infinity", "",
        ],
    )  # fmt: skip
    def test_a_date_has_one_spelling(self, text: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - any ValueError is the answer.
            decode_date(text)

    @given(st.dates(date(1900, 1, 1), date(2199, 12, 31)))
    def test_every_other_date_is_taken(self, day: date) -> None:
        assert decode_date(day.isoformat()) == day

    @pytest.mark.parametrize(
        "text",
        [
            "2025-01-31T12:00:00", "2025-01-31 12:00:00Z", "2025-01-31T12:00Z",
            "2025-01-31T24:00:00Z", "2025-01-31T12:00:60Z", "2025-01-31T12:00:00+24:00",
            "2025-01-31T12:00:00+01:60", "2025-01-31T12:00:00+0100", "2025-02-30T12:00:00Z",
            "2025-01-31T12:00:00.Z", "0001-01-01T00:00:00Z", "2025-01-31T12:00:00Z\n",
            # In UTC, these are in years beyond the limits.
            "1900-01-01T00:30:00+01:00", "2199-12-31T23:30:00-01:00",
        ],
    )  # fmt: skip
    def test_a_moment_has_a_date_a_time_and_an_offset(self, text: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - any ValueError is the answer.
            decode_date_time(text)

    @given(st.dates(date(1900, 1, 2), date(2199, 12, 30)), st.times(), st.integers(-1439, 1439))
    def test_every_other_moment_comes_back_in_utc(self, day: date, clock: time, off: int) -> None:
        moment = datetime.combine(day, clock, timezone(timedelta(minutes=off)))
        decoded = decode_date_time(moment.isoformat())
        assert decoded == moment
        assert decoded.tzinfo is UTC

    @pytest.mark.parametrize(
        ("check", "text", "expected"),
        [
            (is_email, "o'brien@example.co.uk", True),
            (is_email, "sandbox@customer.test", True),
            (is_email, "zoë@exämple.de", True),
            (is_email, "a@localhost", False),
            (is_email, "a..b@example.com", False),
            (is_email, "A <a@example.com>", False),
            (is_email, "a@example.com\n", False),
            (is_email, "a@" + "b" * 5000, False),
            (is_iban, "GB82 WEST 1234 5698 7654 32", True),
            (is_iban, "DE89370400440532013000", True),
            (is_iban, "DE88370400440532013000", False),
            (is_iban, "XX", False),
            (is_iban, "\u0661" * 20, False),
            (is_cursor, "abc", True),
            (is_cursor, "abc=", False),
            (is_cursor, "a\n", False),
            (is_cursor, "", False),
        ],
    )
    def test_other_formats_check_their_named_syntax(
        self, check: Any, text: str, expected: bool
    ) -> None:
        assert check(text) is expected

    @given(st.from_regex(COMMON_EMAIL, fullmatch=True))
    def test_a_common_email_is_one_to_the_library_too(self, text: str) -> None:
        if len(text) <= COMMON_EMAIL_CHARACTERS:
            validate_email(text, check_deliverability=False, test_environment=True)

    @given(st.text())
    def test_no_text_is_ever_a_fault_of_ours(self, text: str) -> None:
        assert {type(check(text)) for check in (is_email, is_iban, is_cursor)} == {bool}
