"""The rules of the contract that `npm run lint` does not check."""

import re
from datetime import date
from typing import Any

import openapi_spec_validator

from accounting.errors import VERBS
from server.http.edge import API_PATHS
from server.http.field_errors import MONEY_NAME
from tests.contract.document import (
    Node,
    Operation,
    bodies,
    document,
    follow,
    named,
    operations,
    request_schemas,
    source,
    typed_schemas,
    walk,
)
from tests.contract.each import each_operation
from tests.contract.refusals import refusals

PARTNERS_OWN = ("Businesses", "Sandboxes", "Webhook endpoints")
# Operations of partners beside those that a business has.
FOR_PARTNERS = ("list_partner_events", "list_partner_exchange_rates", "set_partner_exchange_rates")
# An answer that is kept for its key would keep the secret.
SHOWS_A_SECRET = {"create_webhook_endpoint", "rotate_webhook_secret"}
# They send something, and leave the endpoint as it is.
CHANGES_NO_RECORD = {
    *("test_webhook_endpoint", "retry_webhook_delivery", "replay_webhook_events"),
}
COMMON_LIST_PARAMETERS = {
    "page", "page_size", "cursor", "count", "sort", "created_at_from", "created_at_to",
    "updated_at_from",
}  # fmt: skip
READING_ORDER = [
    "tags", "operationId", "summary", "description", "x-gap", "x-events", "security",
    "parameters", "requestBody", "responses",
]  # fmt: skip
LIMITED_BY_FORMAT = {"uuid", "date", "date-time"}
LIMITS = {
    "array": {"maxItems", "items"},
    "integer": {"minimum", "maximum"},
    "number": {"minimum", "maximum"},
}
COUNTED = {
    *("count", "file_size", "total_count", "total_credits", "total_debits", "total_pages"),
    *("sequence", "last_sequence", "head_sequence", "version", "imported", "skipped", "failed"),
}
MOST_MONEY = 2**63 - 1
MOST_SINGLE_AMOUNT = 99999999999999
MOST_BYTES_OF_TEXT = 12_000
QUOTED_CODE = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")

NO_RESOURCES = (
    *("get_account_hierarchy", "get_integrity", "suggest_matches"),
    *("get_invoice_pdf", "run_batch"),
    *("set_exchange_rates", "set_partner_exchange_rates", "get_exchange_rate"),
)


def codes() -> set[str]:
    return set(document()["components"]["schemas"]["ErrorCode"]["enum"])


def is_money(place: str) -> bool:
    name = place.rpartition("/")[2]
    return bool(re.search(r"(_cents|_amount|_balance|_total|^amount|^credit_limit|_price)$", name))


class TestDocument:
    def test_is_valid_openapi_3_0_3(self) -> None:
        assert document()["openapi"] == "3.0.3"
        openapi_spec_validator.validate(document())

    def test_has_only_paths_that_the_server_takes_for_the_api(self) -> None:
        assert all(path.startswith(API_PATHS) for path in document()["paths"])

    def test_paths_are_grouped_by_tag_in_the_order_of_the_tags(self) -> None:
        declared = [tag["name"] for tag in document()["tags"]]
        met = list(dict.fromkeys(operation.node["tags"][0] for operation in operations()))
        changes = [
            here.node["tags"] != after.node["tags"]
            for here, after in zip(operations(), operations()[1:], strict=False)
        ]
        assert met == declared
        assert sum(changes) == len(declared) - 1

    def test_every_tag_has_a_banner_and_a_description(self) -> None:
        for tag in document()["tags"]:
            assert f"# ── {tag['name']} ─" in source()
            assert tag["description"]

    def test_uses_all_that_is_shared(self) -> None:
        """Check that each component is used; refusals serve as examples of their code."""
        used = {node["$ref"] for _, node in walk(document()) if "$ref" in node}
        schemes = {name for each in operations() for one in each.node["security"] for name in one}
        used |= {f"#/components/securitySchemes/{name}" for name in schemes}
        used |= {f"#/components/examples/{name}" for name in refusals()}
        kept = {
            f"#/components/{kind}/{name}"
            for kind, shared in document()["components"].items()
            if not kind.startswith("x-")
            for name in shared
        }
        assert kept - used == set()

    def test_its_head_lists_all_headings(self) -> None:
        head = re.sub(r"[#\s]+", " ", source().partition("openapi: ")[0])
        _, *parts = re.split(r"^(x-shared|paths|components):$", source(), flags=re.M)
        for kind, text in zip(parts[::2], parts[1::2], strict=True):
            headings = re.findall(r"^  # ── ([^─:]+?)(?::[^─]*)? ─+$", text, re.M)
            assert f" {kind} {', '.join(headings)}. " in head

    def test_its_text_is_what_is_read_before_the_first_call(self) -> None:
        text = document()["info"]["description"]
        headings = ["First calls", "Reading and writing", "Money", "Errors and retries", "Guides"]
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == headings
        assert "curl" in text
        assert len(text.encode()) <= MOST_BYTES_OF_TEXT


class TestOperation:
    def test_summaries_are_unique(self) -> None:
        summaries = [operation.node["summary"] for operation in operations()]
        assert len(summaries) == len(set(summaries))

    @each_operation
    def test_reads_in_one_order(self, operation: Operation) -> None:
        keys = list(operation.node)
        assert keys == [key for key in READING_ORDER if key in keys]

    @each_operation
    def test_says_what_it_does_with_an_example_for_each_body(self, operation: Operation) -> None:
        assert operation.node["summary"]
        assert operation.node["description"]
        assert all(media.get("examples") for media in bodies(operation).values())
        for status, response in operation.node["responses"].items():
            for media in follow(response).get("content", {}).values():
                assert media.get("examples"), status

    @each_operation
    def test_lists_exactly_the_statuses_it_can_answer(self, operation: Operation) -> None:
        keyed = operation.takes("Idempotency-Key")
        about_a_thing = set(re.findall(r"\{(\w+)\}", operation.path)) - {"business_id"}
        about_the_business = operation.within_business and operation.node["tags"] == ["Businesses"]
        expected = {
            "400": True,
            "401": True,
            "403": True,
            "404": bool(about_a_thing)
            or about_the_business
            or operation.name == "get_general_ledger",
            "409": keyed
            or (operation.method == "delete" and operation.within_business)
            or operation.name == "create_webhook_endpoint",
            "412": operation.takes("If-Match"),
            "415": bool(bodies(operation)),
            "422": keyed
            or operation.name
            in ("export_journal_entries", "create_webhook_endpoint", "get_exchange_rate"),
            "default": True,
            "201": operation.name.startswith(
                ("create_", "write_off_", "reverse_journal_", "supersede_")
            ),
            # These have no external ID and no preview.
            "200": operation.name
            not in (
                "create_bank_rule",
                "create_document",
                "create_tax_code",
                "create_tax_return",
                "create_webhook_endpoint",
                "supersede_tax_return",
            ),
        }
        statuses = {status for status, possible in expected.items() if possible}
        assert set(operation.node["responses"]) == statuses

    @each_operation
    def test_refers_to_shared_refusals(self, operation: Operation) -> None:
        for status, response in operation.node["responses"].items():
            if not status.startswith("2"):
                assert list(response) == ["$ref"], status

    @each_operation
    def test_names_only_codes_of_the_list(self, operation: Operation) -> None:
        refusals = operation.node["description"].partition("Refusals:")[2]
        fields = {"period_month"}
        assert set(QUOTED_CODE.findall(refusals)) - fields <= codes()

    @each_operation
    def test_answers_carry_the_headers_of_their_kind(self, operation: Operation) -> None:
        for status, response in operation.node["responses"].items():
            headers = set(follow(response)["headers"])
            assert "X-Request-ID" in headers
            assert ("Location" in headers) == (status == "201")
            if status.startswith("2"):
                replayed = operation.takes("Idempotency-Key")
                assert ("Idempotent-Replayed" in headers) == replayed
                gone = operation.name.startswith(
                    ("list_", "issue_", "revoke_", "delete_", "export_", "import_")
                )
                no_resource = operation.name in {
                    *NO_RESOURCES,
                    *CHANGES_NO_RECORD,
                } or operation.node["tags"][0] in (*("Reports", "Insights"),)
                told = operation.name.endswith("_statement")  # It is computed, and no resource.
                assert ("ETag" in headers) == (not gone and not no_resource and not told)

    @each_operation
    def test_says_who_may_call(self, operation: Operation) -> None:
        schemes = {name for each in operation.node["security"] for name in each}
        tag = operation.node["tags"][0]
        if operation.name.startswith("revoke_"):
            expected = {"PartnerKey", "PartnerToken"}
        elif tag == "Access":
            expected = {"PartnerToken"} if operation.takes("business_id") else {"PartnerKey"}
        elif (
            tag in PARTNERS_OWN and operation.name != "get_business"
        ) or operation.name in FOR_PARTNERS:
            expected = {"PartnerKey", "PartnerToken"}
        elif operation.name == "cancel_vendor_refund_payment":
            expected = {"BusinessToken"}
        else:
            expected = {"PartnerKey", "PartnerToken", "BusinessToken"}
        assert schemes == expected


class TestParameter:
    @each_operation
    def test_every_one_is_described_and_typed(self, operation: Operation) -> None:
        for parameter in operation.parameters:
            assert parameter["description"], parameter["name"]
            assert "type" in follow(parameter["schema"]), parameter["name"]

    @each_operation
    def test_writes_take_an_idempotency_key(self, operation: Operation) -> None:
        access = operation.node["tags"] == ["Access"]
        writes = operation.method in ("post", "put", "patch")
        keyed = writes and not access and operation.name not in SHOWS_A_SECRET
        assert operation.takes("Idempotency-Key") == keyed

    @each_operation
    def test_changes_of_one_resource_take_if_match(self, operation: Operation) -> None:
        write = operation.method != "get" and operation.node["tags"] != ["Access"]
        changes = write and not operation.name.startswith(("create_", "import_", "run_", "set_"))
        changes = changes and operation.name not in CHANGES_NO_RECORD
        assert operation.takes("If-Match") == changes

    @each_operation
    def test_lists_take_the_common_parameters(self, operation: Operation) -> None:
        names = {parameter["name"] for parameter in operation.parameters}
        assert operation.is_list == (names >= COMMON_LIST_PARAMETERS)

    def test_comma_lists_are_typed_and_short(self) -> None:
        for operation in operations():
            for parameter in operation.parameters:
                if follow(parameter["schema"])["type"] == "array":
                    assert parameter["style"] == "form"
                    assert parameter["explode"] is False
                    assert parameter["schema"]["maxItems"] == 100

    def test_every_sort_has_both_directions_and_a_default(self) -> None:
        for operation in filter(lambda each: each.is_list, operations()):
            sort = next(each for each in operation.parameters if each["name"] == "sort")["schema"]
            ascending = [word for word in sort["enum"] if not word.startswith("-")]
            assert set(sort["enum"]) == {*ascending, *(f"-{word}" for word in ascending)}
            assert sort["default"] in sort["enum"]


class TestDeprecated:
    def test_says_since_when_and_what_takes_its_place(self) -> None:
        for at, node in walk(document()):
            assert node.get("deprecated", False) is ("x-deprecated" in node), at
            told = node.get("x-deprecated", {"since": "2026-01-01"})
            assert told.keys() <= {"since", "until", "instead"}, at
            assert date.fromisoformat(told["since"]) < date.fromisoformat(
                told.get("until", "9999-12-31")
            )

    def test_parameters_are_like_those_that_take_their_place(self) -> None:
        for operation in operations():
            named_here = {each["name"]: each for each in operation.parameters}
            for parameter in deprecated_parameters(operation):
                new = named_here[parameter["x-deprecated"]["instead"]]
                for key in ("in", "schema", "style", "explode", "required"):
                    assert parameter.get(key) == new.get(key), (operation.name, parameter["name"])

    def test_is_told_by_every_answer_but_those_to_nobody_knows_whom(self) -> None:
        for operation in operations():
            if operation.node.get("deprecated") or deprecated_parameters(operation):
                for status, response in operation.node["responses"].items():
                    headers = follow(response)["headers"].keys()
                    told = status == "401" or {"Deprecation", "Sunset"} <= headers
                    assert told, (operation.name, status)

    def test_bounds_of_days_and_moments_have_one_pair_of_words(self) -> None:
        # The period of a report, and the day of an aging report or of an exchange rate.
        told = {"start_date", "end_date", "as_of_date", "known_at", "open_on", "date"}
        for operation in operations():
            for parameter in operation.parameters:
                bounds = follow(parameter["schema"]).get("format") in ("date", "date-time")
                if bounds and not parameter.get("deprecated") and parameter["name"] not in told:
                    assert parameter["name"].endswith(("_from", "_to")), operation.name


class TestSchema:
    def test_request_objects_are_closed_but_for_those_of_oauth(self) -> None:
        # RFC 6749, 3.2: unrecognized parameters must be ignored.
        oauth = {"TokenRequest", "TokenRevocation"}
        for name, schema in request_schemas().items():
            expected = None if "properties" not in schema else name in oauth
            assert expected is None or schema.get("additionalProperties") is expected, name

    def test_every_string_list_and_number_has_its_limits(self) -> None:
        for place, schema in typed_schemas():
            by_format = schema.get("format") in LIMITED_BY_FORMAT
            if schema["type"] == "string" and "enum" not in schema and not by_format:
                assert "maxLength" in schema, place
            elif schema["type"] in LIMITS:
                assert LIMITS[schema["type"]] <= schema.keys(), place

    def test_strings_of_requests_keep_out_what_no_database_stores(self) -> None:
        for name, schema in request_schemas().items():
            for at, node in walk(schema, name):
                text = node.get("type") == "string" and not {"enum", "format"} & node.keys()
                assert not text or not re.search(node["pattern"], "a\0b"), at

    def test_patterns_are_anchored(self) -> None:
        for place, schema in typed_schemas():
            assert re.fullmatch(r"\^.*\$", schema.get("pattern", "^$")), place

    def test_money_is_a_64_bit_integer(self) -> None:
        for place, schema in typed_schemas():
            if is_money(place) and "parameters" not in place:
                assert (schema["type"], schema["format"]) == ("integer", "int64"), place
                assert abs(schema["minimum"]) <= schema["maximum"] <= MOST_MONEY, place

    def test_an_amount_in_a_request_is_within_the_single_amount(self) -> None:
        for name, schema in request_schemas().items():
            for at, node in walk(schema, name):
                if node.get("format") == "int64":
                    # A tolerance has a small maximum on purpose.
                    small = at[-1] == "matching_tolerance_cents"
                    assert small or node["maximum"] == MOST_SINGLE_AMOUNT, at
                    assert MONEY_NAME.search(at[-1]), f"refusals call {at} no money"

    def test_a_sentence_goes_on_after_the_name_of_its_field_or_names_it(self) -> None:
        names = {name for _, node in walk(document()) for name in properties_of(node)}
        for at, node in walk(document()):
            for words in sentences_of(node):
                known = words.partition(" ")[0] in VERBS or names & set(re.findall(r"\w+", words))
                assert known, f"{at}: {words}"

    def test_only_decimals_are_numbers(self) -> None:
        numbers = [schema for _, schema in typed_schemas() if schema["type"] == "number"]
        assert {schema["format"] for schema in numbers} == {"decimal"}

    def test_nullable_stands_beside_a_type_and_never_beside_an_enum(self) -> None:
        for at, node in walk(document()["components"]["schemas"]):
            if "nullable" in node and at[-1] != "properties":
                assert "type" in node, at
                assert "enum" not in node, at

    def test_enums_and_objects_with_fields_are_components(self) -> None:
        """Check that none is inline: generators would invent a name for it."""
        for place, schema in typed_schemas():
            if place.count("/") > 2:
                assert "enum" not in schema or place.endswith("/schema"), place
                assert "properties" not in schema or "/allOf/" in place, place

    def test_creates_list_the_usual_answer_first(self) -> None:
        for operation in operations():
            both = [each for each in operation.node["responses"] if each in ("200", "201")]
            assert both == sorted(both, reverse=True), operation.name

    def test_none_has_a_default(self) -> None:
        """Check that no field has a default: generated clients would require such a field."""
        schemas = document()["components"]["schemas"]
        assert [at for at, node in walk(schemas) if "default" in node] == []

    def test_no_name_clashes_with_words_of_other_languages(self) -> None:
        names = set(document()["components"]["schemas"])
        assert not names & {"Error", "ApiError", "Object", "Date", "Map", "List", "Response"}

    def test_every_property_is_described_with_its_unit(self) -> None:
        for at, node in walk(document()["components"]["schemas"]):
            for field, part in properties_of(node).items():
                assert "not" in at or is_described(field, part), (at, field)

    def test_no_country_became_a_truth_value(self) -> None:
        words = [word for _, node in walk(document()) for word in node.get("enum", [])]
        assert {type(word) for word in words} == {str}
        country = document()["components"]["schemas"]["SupportedCountry"]["pattern"]
        assert re.fullmatch(country, "NO")
        assert re.fullmatch(country, "no")
        assert not re.fullmatch(country, "US")


def deprecated_parameters(operation: Operation) -> list[Node]:
    return [each for each in operation.parameters if each.get("deprecated")]


def properties_of(node: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of a schema; a property may itself be named `properties`."""
    found = node.get("properties")
    return found if isinstance(found, dict) and "type" in node else {}


def is_described(field: str, part: dict[str, Any]) -> bool:
    """Return whether a description has three words, and the unit of a moment or an amount."""
    kind = follow(part).get("format")
    words = str(part.get("description") or follow(part).get("description"))
    unit = "UTC" if kind == "date-time" else "minor units" if kind == "int64" else ""
    return len(words.split()) > 2 and (unit in words or field in COUNTED)


def sentences_of(node: dict[str, Any]) -> list[str]:
    """Return the sentences of a schema that refusals repeat."""
    excluding = node.get("x-not", {}).get("message")
    return [words for words in (node.get("x-pattern-message"), excluding) if words is not None]


class TestEventTypeFilter:
    def test_has_every_type_and_every_kind_of_record(self) -> None:
        shapes = document()["components"]["schemas"]
        types = shapes["EventType"]["enum"]
        kinds = sorted({each.partition(".")[0] for each in types})
        wanted = [*(f"{kind}.*" for kind in kinds), *types]
        assert shapes["EventTypeFilter"]["enum"] == wanted


class TestErrorCode:
    def test_is_closed_and_says_each_code_once(self) -> None:
        words = document()["components"]["schemas"]["ErrorCode"]["enum"]
        assert len(words) == len(set(words))
        assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", word) for word in words)

    def test_each_says_when_it_comes_and_what_to_do(self) -> None:
        explained = document()["components"]["x-error-codes"]
        assert [*explained] == document()["components"]["schemas"]["ErrorCode"]["enum"]
        names = {operation.name for operation in operations()}
        for _, node in walk(document()):
            names |= properties_of(node).keys()
        names |= {each["name"] for operation in operations() for each in operation.parameters}
        for code, told in explained.items():
            sentences = [told["when"], told["do"], *told.get("detail", {}).values()]
            assert all(each[0].isupper() and each[-1] == "." for each in sentences), code
            quoted = {*re.findall(r"`([a-z]+_[a-z_]+)`", told["do"])}
            assert quoted <= names | told.get("detail", {}).keys(), code

    def test_every_code_is_explained_where_it_is_answered(self) -> None:
        text = " ".join(
            str(node["description"]) for _, node in walk(document()) if "description" in node
        )
        assert codes() - set(re.findall(r"`([a-z_]+)`", text)) == set()


class TestLinks:
    def test_lead_to_operations_with_their_parameters(self) -> None:
        for _, node in walk(document()["paths"]):
            for name, link in node.get("links", {}).items():
                target = named(link["operationId"])
                for parameter in link["parameters"]:
                    assert target.takes(parameter), name

    def test_what_is_created_can_be_read(self) -> None:
        for operation in operations():
            if operation.name.startswith("create_"):
                links = operation.node["responses"]["201"]["links"].values()
                assert any(link["operationId"].startswith("get_") for link in links)
