import time
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.errors import ApiError, ValidationError
from server.http.problems import PayloadTooLarge, UnsupportedMediaType
from server.http.strict_json import MAX_DEPTH, MAX_INTEGER, MAX_VALUES, parse_json
from tests.contract.hostile_bodies import not_json, numbers
from tests.server.http.contract_chain import JSON_HEADERS, ORDERS, SHOP, Chain, small_chain

AN_AMOUNT = "must be an integer in minor units: 10.50 is 1050"
DRAFTS = f"{ORDERS}drafts/"
PAPERS = f"{ORDERS}17/papers/"
FORM = ((b"content-type", b"application/x-www-form-urlencoded"),)
END = b"--cut--\r\n"
MULTIPART = ((b"content-type", b"multipart/form-data; boundary=cut"),)

NOT_STRICT = [
    *(each.content for each in (*not_json(b'{"a": 1}'), *numbers())),
    b"",
    b"// note\n{}",
    b"\x0c{}",
    b'{"a": [{"b": 18446744073709551616}]}',
    b"[-" + b"9" * 5000 + b"]",
    b"[1e" + b"9" * 5000 + b"]",
    b"[" + b"9" * 400 + b".5]",
    b'["\xc0\x80"]',
    b'{"\xff": 1}',
    b'{"a": {"\\u0000": 1}}',
    b'["\\u0000"]',
    b'["a\\u0000"]',
    b'["\x1f"]',
    b'["\\ud800"]',
    b'["\\udc00\\ud800"]',
    b'{"a":' * 100_000,
    b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
    b'{"a":' * (MAX_DEPTH + 1) + b"{}" + b"}" * (MAX_DEPTH + 1),
]
safe_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc é\n", max_size=4), inner),
)


@pytest.fixture(scope="module")
def chain() -> Chain:
    return small_chain()


def content_type(value: bytes) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"content-type", value),)


def part(name: str, text: str | bytes, *more: str, options: str = "") -> bytes:
    lines = [f'Content-Disposition: form-data; name="{name}"{options}', *more, "", ""]
    content = text.encode() if isinstance(text, str) else text
    return b"--cut\r\n" + "\r\n".join(lines).encode() + content + b"\r\n"


def refusal(chain: Chain, method: str, address: str, *chunks: bytes, headers: Any = ()) -> ApiError:
    with pytest.raises(ApiError) as caught:
        chain.ask(method, address, *chunks, headers=headers)
    return caught.value


class TestParseJson:
    @pytest.mark.parametrize("raw", NOT_STRICT, ids=lambda raw: repr(raw[:24]))
    def test_anything_less_than_strict_is_refused_quickly(self, raw: bytes) -> None:
        began = time.thread_time()
        with pytest.raises(ValidationError) as caught:
            parse_json(raw)
        assert time.thread_time() - began < 0.05
        assert caught.value.code == "malformed_json"
        assert len(caught.value.message) < 80

    @pytest.mark.parametrize(
        ("raw", "value"),
        [
            (b" {} ", {}),
            (b"null", None),
            (b"[9007199254740991, -9007199254740991]", [MAX_INTEGER, -MAX_INTEGER]),
            (b"[5.0, 5e0, 0.1, -0]", [5.0, 5.0, 0.1, 0]),
            (b'["\\ud83d\\ude00", "\\\\u0000", "\x7f"]', ["\U0001f600", "\\u0000", "\x7f"]),
            (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
            (b'{"a": {"a": 1}, "b": {"a": 1}}', {"a": {"a": 1}, "b": {"a": 1}}),
        ],
    )
    def test_strict_json_is_parsed(self, raw: bytes, value: Any) -> None:
        parsed = parse_json(raw)
        if raw.startswith(b"[["):
            value = parsed
        assert parsed == value
        assert orjson.dumps(parsed) == orjson.dumps(value)

    def test_a_body_is_limited_in_values_and_texts_do_not_count(self) -> None:
        text = "a,b[c{d\\" * 20_000
        most = ["[ ]", "{ }", "[]", '{"a":[0]}', orjson.dumps(text).decode()]
        fits = f"[{','.join([*most, *['0'] * (MAX_VALUES - len(most) - 2)])}]".encode()
        assert len(parse_json(fits)) == MAX_VALUES - 2
        assert parse_json(fits)[4] == text
        for more in (b",0", b',"a"', b",{}"):
            with pytest.raises(ValidationError, match="more than 20000 fields and list items"):
                parse_json(fits[:-1] + more + b"]")

    def test_the_place_of_the_fault_is_told(self) -> None:
        with pytest.raises(ValidationError) as caught:
            parse_json(b'{"a": 1,\n "b": nope}')
        assert caught.value.detail == {"line": 2, "column": 8}

    @given(safe_json)
    def test_json_of_an_ordinary_client_comes_back_as_it_was(self, value: Any) -> None:
        assert parse_json(orjson.dumps(value)) == value

    @given(st.binary(max_size=60))
    def test_no_bytes_are_ever_a_fault_of_ours(self, raw: bytes) -> None:
        with suppress(ValidationError):
            parse_json(raw)


class TestContentType:
    @pytest.mark.parametrize("value", [b" application/json ;", b"application/json; odata=verbose"])
    def test_json_may_be_announced_in_many_ways(self, chain: Chain, value: bytes) -> None:
        call = chain.ask("POST", DRAFTS, b'{"a": 1}', headers=content_type(value))
        assert call.body == {"a": 1}

    @pytest.mark.parametrize(
        "headers",
        [
            content_type(b"application/jsonx"),
            content_type(b"application/x-www-form-urlencoded"),
            content_type(b"\xff\xfe"),
            JSON_HEADERS + JSON_HEADERS,
        ],
    )
    def test_any_other_body_is_of_an_unsupported_type(self, chain: Chain, headers: Any) -> None:
        refused = refusal(chain, "POST", DRAFTS, b"{}", headers=headers)
        assert isinstance(refused, UnsupportedMediaType)
        assert refused.code == "unsupported_media_type"


class TestPresence:
    def test_an_optional_body_may_be_absent(self, chain: Chain) -> None:
        assert chain.ask("POST", DRAFTS).body is None
        assert chain.ask("POST", DRAFTS, headers=JSON_HEADERS).body is None

    def test_an_empty_form_is_a_form(self, chain: Chain) -> None:
        refused = refusal(chain, "POST", ORDERS, headers=FORM)
        assert refused.detail == {"field_errors": {"amount_cents": ["is required"]}}

    @pytest.mark.parametrize("chunks", [[b"{}"], [b"", b"x"], [b" "]])
    @pytest.mark.parametrize("method", ["GET", "PATCH", "HEAD"])
    def test_a_body_nobody_asked_for_is_refused(
        self, chain: Chain, method: str, chunks: list[bytes]
    ) -> None:
        refused = refusal(chain, method, f"{ORDERS}17/", *chunks, headers=JSON_HEADERS)
        assert (type(refused), refused.code) == (ValidationError, "bad_request")

    def test_a_chunked_body_is_put_together(self, chain: Chain) -> None:
        call = chain.ask("POST", DRAFTS, b"", b'{"a"', b"", b": 1}", headers=JSON_HEADERS)
        assert call.body == {"a": 1}


class TestAbsentBody:
    def test_null_is_an_absent_body_where_none_is_required(self, chain: Chain) -> None:
        assert chain.ask("POST", DRAFTS, b" null\n", headers=JSON_HEADERS).body is None

    def test_null_is_no_required_body(self, chain: Chain) -> None:
        refused = refusal(chain, "POST", ORDERS, b"null", headers=JSON_HEADERS)
        assert refused.detail["field_errors"] == {"body": ["must be an object"]}


class TestSize:
    def test_chunks_of_json_have_a_mebibyte_together(self, chain: Chain) -> None:
        whole = b'{"a": "' + b"x" * (1024 * 1024 - 9) + b'"}'
        assert len(whole) == 1024 * 1024
        assert chain.ask("POST", DRAFTS, whole, headers=JSON_HEADERS).body
        for chunks in ([whole, b" "], [b"", whole, b" "]):
            refused = refusal(chain, "POST", DRAFTS, *chunks, headers=JSON_HEADERS)
            assert isinstance(refused, PayloadTooLarge)

    @pytest.mark.parametrize(("size", "fits"), [(10 * 1024 * 1024, True), (10485761, False)])
    def test_a_file_has_ten_mebibytes(self, chain: Chain, size: int, fits: bool) -> None:
        body = part("file", b"x" * size, options='; filename="a.pdf"') + END
        if fits:
            call = chain.ask("POST", PAPERS, body, headers=MULTIPART)
            assert len(call.files["file"].content) == size
        else:
            refused = refusal(chain, "POST", PAPERS, body, headers=MULTIPART)
            assert isinstance(refused, PayloadTooLarge)


class TestForms:
    INVOICE = "0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a03"
    FIELDS = (
        ("amount_cents", "1500"),
        ("limit_cents", "null"),
        ("quantity", "0.25"),
        ("sent", "true"),
        ("due_date", "2025-01-31"),
        ("name", "Zoë & co"),
        ("tags", "a,b"),
        ("tags", "c"),
        ("metadata", '{"a": {"b": [1]}}'),
        ("allocations", '{"invoice_id": "' + INVOICE + '", "amount_cents": 3}'),
    )
    AS_JSON = (
        b'{"amount_cents": 1500, "limit_cents": null, "quantity": 0.25, "sent": true,'
        b'"due_date": "2025-01-31", "name": "Zo\xc3\xab & co", "tags": ["a,b", "c"],'
        b'"metadata": {"a": {"b": [1]}},'
        b'"allocations": [{"invoice_id": "' + INVOICE.encode() + b'", "amount_cents": 3}]}'
    )

    def urlencoded(self, *fields: tuple[str, str]) -> bytes:
        return "&".join(f"{quote(name)}={quote(text)}" for name, text in fields).encode()

    def multipart(self, *fields: tuple[str, str]) -> bytes:
        return b"".join(part(name, text) for name, text in fields) + END

    def test_every_content_type_becomes_the_same_value(self, chain: Chain) -> None:
        from_json = chain.ask("POST", ORDERS, self.AS_JSON, headers=JSON_HEADERS)
        from_form = chain.ask("POST", ORDERS, self.urlencoded(*self.FIELDS), headers=FORM)
        from_parts = chain.ask("POST", ORDERS, self.multipart(*self.FIELDS), headers=MULTIPART)
        assert from_json.body == from_form.body == from_parts.body
        assert from_json.body["tags"] == ["a,b", "c"]

    @pytest.mark.parametrize("headers", [FORM, MULTIPART])
    def test_null_leaves_out_an_optional_field_that_is_no_text(
        self, chain: Chain, headers: Any
    ) -> None:
        write = self.urlencoded if headers is FORM else self.multipart
        fields = ("quantity", "sent", "allocations", "metadata", "limit_cents", "name")
        body = write(("amount_cents", "1"), *((name, "null") for name in fields))
        assert chain.ask("POST", ORDERS, body, headers=headers).body == {
            "amount_cents": 1,
            "limit_cents": None,
            "name": "null",
        }

    def test_a_list_may_be_one_json_text(self, chain: Chain) -> None:
        body = self.urlencoded(("amount_cents", "1"), ("tags", '["a", "b"]'))
        assert chain.ask("POST", ORDERS, body, headers=FORM).body["tags"] == ["a", "b"]

    @pytest.mark.parametrize(
        ("field", "text", "words"),
        [
            ("amount_cents", "1.0", AN_AMOUNT),
            ("amount_cents", "+1", AN_AMOUNT),
            ("amount_cents", "\u0661", AN_AMOUNT),
            ("amount_cents", "9" * 5000, AN_AMOUNT),
            ("sent", "1", "must be true or false"),
            ("metadata", "{nope", "must be an object"),
            ("metadata", '{"a": 1, "a": 2}', "must be an object"),
            ("metadata", '{"a": "\\u0000"}', "must be an object"),
            ("allocations", "nope", None),
            ("metadata[a]", "1", "is not a known field; did you mean metadata?"),
        ],
    )
    def test_text_that_does_not_fit_is_told_by_field(
        self, chain: Chain, field: str, text: str, words: str | None
    ) -> None:
        body = self.urlencoded((field, text))
        faults = refusal(chain, "POST", ORDERS, body, headers=FORM).detail["field_errors"]
        assert faults.get(field, faults.get(f"{field}.0")) == [words or "must be an object"]

    BEYOND = "must be from -9007199254740991 to 9007199254740991"

    @pytest.mark.parametrize("huge", ["9007199254740992", "1" + "0" * 17, "9" * 400, "1e400"])
    @pytest.mark.parametrize("sign", ["", "-"])
    def test_a_number_beyond_all_names_its_field_and_the_limit_of_it(
        self, chain: Chain, huge: str, sign: str
    ) -> None:
        share = f'{{"invoice_id": "{SHOP}", "amount_cents": {sign}{huge}}}'
        fields = {"allocations": f"[{share}]", "metadata": f'{{"a": [1, {sign}{huge}]}}'}
        body = ", ".join(f'"{name}": {text}' for name, text in fields.items()).encode()
        for sent, headers in (
            (b'{"amount_cents": 1, %s}' % body, JSON_HEADERS),
            (self.urlencoded(("amount_cents", "1"), *fields.items()), FORM),
        ):
            refused = refusal(chain, "POST", ORDERS, sent, headers=headers)
            assert refused.code == "validation_error"
            assert refused.detail["field_errors"] == {
                "allocations.0.amount_cents": [
                    "must be at least 1" if sign else "must be at most 1000"
                ],
                "metadata.a.1": [self.BEYOND],
            }

    @pytest.mark.parametrize("shares", [["1", "5000"], ["5000", "1"]])
    def test_each_of_several_texts_is_counted(self, chain: Chain, shares: list[str]) -> None:
        huge = "9" * 20
        share = f'{{"invoice_id": "{SHOP}", "amount_cents": '
        texts = [f"{share}{each.replace('5000', huge)}}}" for each in shares]
        body = self.urlencoded(("amount_cents", "1"), *(("allocations", text) for text in texts))
        faults = refusal(chain, "POST", ORDERS, body, headers=FORM).detail["field_errors"]
        place = f"allocations.{shares.index('5000')}.amount_cents"
        assert faults == {place: ["must be at most 1000"]}

    @pytest.mark.parametrize("headers", [FORM, MULTIPART])
    def test_a_scalar_given_twice_is_a_fault(self, chain: Chain, headers: Any) -> None:
        write = self.urlencoded if headers is FORM else self.multipart
        body = write(("amount_cents", "1"), ("amount_cents", "1"))
        faults = refusal(chain, "POST", ORDERS, body, headers=headers).detail["field_errors"]
        assert faults["amount_cents"] == ["is given more than once"]

    @pytest.mark.parametrize("body", [b"a=%zz", b"a=%", b"a=%ff", b"a=\xff", b"a=%00", b"%00=1"])
    def test_a_form_of_broken_text_is_refused(self, chain: Chain, body: bytes) -> None:
        refused = refusal(chain, "POST", ORDERS, body, headers=FORM)
        assert (type(refused), refused.code) == (ValidationError, "bad_request")

    def test_a_form_of_too_many_fields_is_refused(self, chain: Chain) -> None:
        body = b"&".join([b"a=1"] * 1001)
        assert refusal(chain, "POST", ORDERS, body, headers=FORM).code == "bad_request"
        parts = self.multipart(*[("a", "1")] * 1001)
        assert refusal(chain, "POST", ORDERS, parts, headers=MULTIPART).code == "bad_request"


class TestMultipart:
    def test_a_file_comes_beside_the_fields(self, chain: Chain) -> None:
        body = (
            part("title", "Lease")
            + part("parts", "[1, 2]", "Content-Type: application/json")
            + part("file", b"%PDF\0\r\n--cu", "Content-Type: application/pdf",
                   options='; filename="l\u00e9ase.pdf"')
            + END
        )  # fmt: skip
        call = chain.ask("POST", PAPERS, body, headers=MULTIPART)
        assert call.body == {"title": "Lease", "parts": [1, 2]}
        upload = call.files["file"]
        assert (upload.file_name, upload.content_type) == ("léase.pdf", "application/pdf")
        assert upload.content == b"%PDF\0\r\n--cu"

    @pytest.mark.parametrize(
        ("body", "field", "words"),
        [
            (part("file", "text"), "file", "must be a file"),
            (part("title", b"x", options='; filename="a"'), "title", "must not be a file"),
            (part("other", b"x", options='; filename="a"'), "other", "is not a known field"),
            (part("title", "Lease"), "file", "is required"),
            (part("parts", "[99]"), "parts.0", "must be at most 9"),
            (part("parts", "9"), "parts.0", None),
            (part("file", b"x", options='; filename="a"') * 2, "file", "is given more than once"),
        ],
    )
    def test_faults_are_told_by_field(
        self, chain: Chain, body: bytes, field: str, words: str | None
    ) -> None:
        refused = refusal(chain, "POST", PAPERS, body + END, headers=MULTIPART)
        found = refused.detail["field_errors"].get(field)
        assert found == (None if words is None else [words])

    @pytest.mark.parametrize(
        ("boundary", "body"),
        [
            (b"", part("title", "a") + END),
            (b"; boundary=", part("title", "a") + END),
            (b"; boundary=other", part("title", "a") + END),
            (b"; boundary=cut", part("title", "a")),
            (b"; boundary=cut", part("title", "a") + b"--cut\r\n"),
            (b"; boundary=cut", part("title", "a")[:-9]),
            (b"; boundary=cut", b"garbage"),
            (b"; boundary=cut", b"--cut\r\n\r\nnameless\r\n" + END),
            (b"; boundary=cut", part("title", b"\xff") + END),
            (b"; boundary=cut", part("title", b"\0") + END),
            (b"; boundary=cut", part("file", b"x", options='; filename="a\0b"') + END),
            (b"; boundary=" + b"c" * 5000, b"--" + b"c" * 5000 + b"--"),
        ],
    )
    def test_a_body_that_is_cut_short_or_garbled_is_refused(
        self, chain: Chain, boundary: bytes, body: bytes
    ) -> None:
        headers = content_type(b"multipart/form-data" + boundary)
        refused = refusal(chain, "POST", PAPERS, body, headers=headers)
        assert (type(refused), refused.code) == (ValidationError, "bad_request")

    @given(st.binary(max_size=80))
    def test_no_bytes_are_ever_a_fault_of_ours(self, chain: Chain, raw: bytes) -> None:
        for body in (raw, b"--cut\r\n" + raw, part("title", raw) + END):
            with suppress(ValidationError):
                chain.ask("POST", PAPERS, body, headers=MULTIPART)
