"""The isolation of tenants: in every response, in every statement, and in the database itself."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest

from persistence.engine import row_statements
from persistence.engine.pipeline import Pipeline
from persistence.engine.sql import Query
from persistence.tables import metadata
from tests.api_server import ApiServer
from tests.bookkeeping import KEPT, Ledger
from tests.builders.sales import invoice_body, payment_body
from tests.builders.trade import NOBODY, SENT, Record, line
from tests.contract.document import Operation, bodies, follow, operations
from tests.contract.valid_requests import JSON, Story
from tests.partner import Partner
from tests.persistence.database.furnished_business import (
    ACCOUNTS,
    PDF,
    Side,
    foreign_bodies,
    furnish,
)
from tests.persistence.database.tenant_references import (
    FEEDS,
    FILTERED_BY,
    FILTERS,
    LISTS,
    WITH_A_BODY,
    WITH_AN_ID,
    names_in,
)
from tests.persistence.server_role import as_server

NOT_FOUND = (422, "reference_not_found")
TENANTS = sorted(table.name for table in metadata.sorted_tables if table.info.get("tenant"))
WORD = re.compile(r"'[^']*'")  # Text in quotes names no table.
NAMED = re.compile(rf"\b({'|'.join(TENANTS)})\b")


@pytest.fixture(scope="module")
def here(api_server: ApiServer, acme: Partner) -> Side:
    return furnish(api_server, acme)


@pytest.fixture(scope="module", params=["of the same partner", "of another partner"])
def there(
    request: pytest.FixtureRequest, api_server: ApiServer, acme: Partner, rival: Partner
) -> Side:
    return furnish(api_server, acme if request.param == "of the same partner" else rival)


def name_of_refusal(error: dict[str, Any]) -> str:
    """Return the code of an error; of a rejected batch, that of the item that was refused."""
    if error["error_code"] == "batch_rejected":
        results = error["detail"]["results"]
        [error] = [each["body"] for each in results if each["outcome"] == "refused"]
    return str(error["error_code"])


def listed(side: Side, path: str) -> tuple[set[str], int]:
    """Return the ids of a whole list, page by page, and the count that it shows."""
    whole: set[str] = set()
    for page in range(1, 10):
        answer = side.shop.api.get(path, params={"page_size": 100, "page": page}).json()
        whole |= {each["id"] for each in answer["results"]}
        if answer["next"] is None:
            break
    return whole, answer["count"]


@pytest.fixture
def undisturbed(here: Side, there: Side) -> Iterator[None]:
    with here.ledger.untouched(), there.ledger.untouched():
        yield


@pytest.fixture(scope="module")
def ours(acme: Partner) -> Story:
    return Story.whole(acme)


@pytest.fixture(scope="module")
def theirs(acme: Partner) -> Story:
    return Story.whole(acme)


class TestReferencesOfAPartner:
    """Ids of the same partner's other business; `test_hostile_addresses.py` has a rival's."""

    @pytest.mark.parametrize("operation", WITH_AN_ID, ids=lambda each: each.name)
    def test_no_id_of_another_business_is_found(
        self, api_server: ApiServer, ours: Story, theirs: Story, operation: Operation
    ) -> None:
        mine, other = (Ledger(api_server, each.business) for each in (ours, theirs))
        for name in names_in(operation):
            request = ours.request(operation, **{name: theirs.id_of(operation, name)})
            with mine.untouched(), other.untouched():
                answer = request.send()
            assert answer.status_code == 404
            assert not any(id_ in answer.text for id_ in theirs.ids.values())

    @pytest.mark.parametrize("operation", WITH_A_BODY, ids=lambda each: each.name)
    def test_no_example_of_a_body_names_a_record_of_another_business(
        self, api_server: ApiServer, ours: Story, theirs: Story, operation: Operation
    ) -> None:
        own, foreign = ({**each.ids, **each.accounts} for each in (ours, theirs))
        request = ours.request(operation)
        for example in bodies(operation)[JSON]["examples"]:
            text = json.dumps(ours.body(operation, JSON, example))
            for name in [name for name, id_ in own.items() if id_ in text]:
                body = json.loads(text.replace(own[name], foreign[name]))
                if operation.name == "run_batch":  # One foreign item undoes all.
                    body["mode"] = "atomic"
                with Ledger(api_server, ours.business).untouched():
                    answer = request.send(json=body)
                assert answer.status_code == 422, (example, name)
                code = name_of_refusal(answer.json())
                in_path = (
                    operation.name == "run_batch"
                    and code == f"{name.removesuffix('_id')}_not_found"
                )
                assert code == "reference_not_found" or in_path, (example, name)

    @pytest.mark.parametrize(
        ("operation", "name"), FILTERS, ids=[f"{each.name}-{name}" for each, name in FILTERS]
    )
    def test_no_filter_finds_a_record_by_an_id_of_another_business(
        self, ours: Story, theirs: Story, operation: Operation, name: str
    ) -> None:
        id_ = theirs.ids[FILTERED_BY.get(name, name)]
        answer = ours.client(operation).get(ours.path(operation), params={name: id_})
        assert answer.json()["results"] == []


@pytest.mark.usefixtures("undisturbed")
class TestAnswers:
    @pytest.mark.parametrize("path", LISTS)
    def test_no_list_shows_a_row_of_another_business(
        self, here: Side, there: Side, path: str
    ) -> None:
        rows: dict[str, set[str]] = {}
        for side in (here, there):
            whole, count = listed(side, path)
            assert count == len(whole) > 0
            rows[side.shop.id] = whole
        assert rows[here.shop.id].isdisjoint(rows[there.shop.id])

    @pytest.mark.parametrize("path", FEEDS)
    def test_no_feed_shows_an_event_of_another_business(
        self, here: Side, there: Side, path: str
    ) -> None:
        for side, other in ((here, there), (there, here)):
            answer = side.shop.api.get(path, params={"page_size": 500})
            found = answer.json()
            assert not found["has_more"]
            events = found["results"]
            assert {each["business_id"] for each in events} == {side.shop.id}
            assert {each["object"]["id"] for each in events} >= {side.ids["invoice"]}
            foreign = {other.shop.id, *other.ids.values()} - {side.shop.id, *side.ids.values()}
            assert not [id_ for id_ in foreign if id_ in answer.text]

    def test_no_body_names_a_record_of_another_business(self, here: Side, there: Side) -> None:
        for method, path, body in foreign_bodies(here, there):
            answer = here.shop.api.request(method, path, json=body)
            assert (answer.status_code, answer.json()["error_code"]) == NOT_FOUND
        for kind in ("customer", "vendor"):
            about = {"linked_type": kind, "linked_id": there.ids[kind]}
            answer = here.shop.api.post("documents/", data=about, files={"file": PDF})
            assert (answer.status_code, answer.json()["error_code"]) == NOT_FOUND

    def test_an_external_id_finds_only_objects_of_the_business(
        self, here: Side, there: Side
    ) -> None:
        without = ("documents/", ACCOUNTS, "general-ledger/journal-entries/", "audit/")
        apart = {"vendor-refunds/payments/", "tax-codes/", "bank-rules/", "opening-balances/"}
        apart |= {"tax-returns/", "exchange-rates/", "revaluations/"}
        for path in set(LISTS) - {*without, *apart}:
            [mine] = here.shop.api.get(path, params={"external_id": "same"}).json()["results"]
            assert mine["id"] in here.ids.values()
        for path, whole in (
            ("invoices/", invoice_body({"id": None})),
            ("invoices/payments/", payment_body({"id": None})),
        ):
            whole.update(external_id="same", customer_external_id="same")
            del whole["customer_id"]
            answer = here.shop.api.post(path, json=whole)
            shown = answer.json().get("payment", answer.json())
            assert (answer.status_code, shown["business_id"]) == (200, here.shop.id)
        for reference in ("same", "same-id"):
            found = here.shop.api.get(f"{ACCOUNTS}{reference}/").json()
            assert found["id"] == here.ids["account"]

    def test_a_key_of_one_business_says_nothing_to_another(self, here: Side, there: Side) -> None:
        key = {"Idempotency-Key": "the same key"}
        answers = [
            side.shop.api.post(f"invoices/{side.ids['draft']}/void/", headers=key)
            for side in (here, there)
        ]
        assert {answer.status_code for answer in answers} == {409}
        assert "idempotent-replayed" not in answers[1].headers


class TestRowSecurity:
    @pytest.mark.parametrize("table", TENANTS)
    def test_without_a_business_there_are_no_rows(
        self, api_server: ApiServer, here: Side, table: str
    ) -> None:
        if table != "reply":
            assert api_server.query(f"SELECT count(*) > 0 FROM {table}") == [(True,)]
        with as_server(api_server) as server:
            assert server.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]
        with as_server(api_server, "") as server:
            assert server.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]

    @pytest.mark.parametrize("table", KEPT)
    def test_with_a_business_there_are_its_own(
        self, api_server: ApiServer, here: Side, there: Side, table: str
    ) -> None:
        with as_server(api_server, here.shop.id) as server:
            seen = server.execute(f"SELECT DISTINCT business_id::text FROM {table}").fetchall()
        assert seen == [(here.shop.id,)]

    @pytest.mark.parametrize("table", ["customer", "account", "invoice", "bill", "number_series"])
    def test_no_statement_reaches_across(
        self, api_server: ApiServer, here: Side, there: Side, table: str
    ) -> None:
        foreign = there.shop.id
        column = "last" if table == "number_series" else "version"
        with as_server(api_server, here.shop.id) as server:
            changed = server.execute(
                f"UPDATE {table} SET {column} = {column} + 1 WHERE business_id = %s", (foreign,)
            )
            assert changed.rowcount == 0
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                server.execute(f"UPDATE {table} SET business_id = %s", (foreign,))

    def test_no_row_is_put_into_another_business(
        self, api_server: ApiServer, here: Side, there: Side
    ) -> None:
        with (
            as_server(api_server, here.shop.id) as server,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            server.execute(
                "INSERT INTO number_series (business_id, series, last) VALUES (%s, 'X', 1)",
                (there.shop.id,),
            )

    def test_the_business_is_forgotten_with_the_transaction(
        self, api_server: ApiServer, here: Side
    ) -> None:
        with as_server(api_server, here.shop.id) as server:
            server.commit()
            assert server.execute("SELECT count(*) FROM customer").fetchall() == [(0,)]


class TestStatements:
    @pytest.mark.parametrize("table", TENANTS)
    def test_each_statement_of_the_flush_names_the_business(self, table: str) -> None:
        written = metadata.tables[table]
        numbers = frozenset(row_statements.number_columns(written))
        assert stays_inside(row_statements.insertion(written, numbers))
        if "version" in written.c:
            columns = frozenset(written.c.keys())
            assert stays_inside(row_statements.replacement(written, columns, numbers))

    def test_no_statement_on_a_tenant_table_leaves_the_business_out(
        self, acme: Partner, api_server: ApiServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent_texts: set[str] = set()
        exchange = Pipeline.exchange

        def listening(pipeline: Pipeline, queries: Sequence[Query]) -> Any:
            sent_texts.update(WORD.sub("''", query.text) for query in queries)
            return exchange(pipeline, queries)

        monkeypatch.setattr(Pipeline, "exchange", listening)
        walk(furnish(api_server, acme), Story.begin(acme))
        on_tenants = {text for text in sent_texts if NAMED.search(text)}
        assert len(on_tenants) > 60
        # The database seals by a function, and only the proof of the books reads seals.
        reached = set(TENANTS) - {"audit_seal"}
        assert {name for text in on_tenants for name in NAMED.findall(text)} == reached
        assert [text for text in on_tenants if not stays_inside(text)] == []

    @pytest.mark.parametrize(
        "text",
        [
            "SELECT id FROM customer WHERE id = %(id)s",
            "SELECT invoice.id FROM invoice JOIN customer ON customer.id = invoice.party_id"
            " WHERE invoice.business_id = %(business_id)s",
            "SELECT journal_entry.id FROM journal_entry, journal_entry AS reversal"
            " WHERE journal_entry.business_id = %(business_id)s",
            "SELECT business_id FROM customer",
        ],
    )
    def test_a_statement_without_the_business_is_found(self, text: str) -> None:
        assert not stays_inside(text)


def stays_inside(text: str) -> bool:
    """Return whether a statement confines each tenant table, under each alias, to a business."""
    named = set(NAMED.findall(text)) | set(re.findall(rf"{NAMED.pattern} AS (\w+)", text))
    names = {each for one in named for each in ([one] if isinstance(one, str) else one[1:])}
    confined = {
        name
        for name in names
        if f"{name}.business_id" in text
        or re.search(rf"INSERT INTO {name} \([^)]*\bbusiness_id\b", text)
    }
    given = "%(business_id)s" in text or "%(owner)s" in text
    return given and (confined == names or (len(names) == 1 and "business_id" in text))


def walk(side: Side, story: Story) -> None:
    """Use every operation in a business once, with every filter and order.

    The proof of the books is left out: `stays_inside` does not support its subqueries.
    """
    shop = side.shop
    for operation in operations():
        is_left_out = operation.node["tags"] == ["Businesses"] or operation.name == "get_integrity"
        if operation.within_business and not is_left_out:
            story.request(operation).send()
    buyer = shop.customer()
    key = {"Idempotency-Key": "walk"}
    for _ in range(2):
        shop.api.post("invoices/", json=invoice_body(buyer, sent_at=SENT), headers=key)
    shop.api.post("invoices/?preview=true", json=invoice_body(buyer, sent_at=SENT))
    shop.api.post("customers/", json={"company_name": "C", "external_id": "same"})
    shop.made("invoices/", {"customer_external_id": "made on the way", "line_items": [line()]})
    for path in [*LISTS, *FEEDS]:
        for options in filters_of(path):
            shop.api.get(path, params=options)


def filters_of(path: str) -> list[Record]:
    """Return a query for every filter and order of a list, with a valid value."""
    [listed] = [
        each
        for each in operations()
        if each.method == "get" and each.path.endswith("{business_id}/" + path)
    ]
    asked: list[Record] = [{}, {"page": 2, "page_size": 1}]
    for node in map(follow, listed.node["parameters"]):
        name, schema = node["name"], follow(node["schema"])
        if node["in"] != "query" or name in ("page", "page_size", "cursor", "count"):
            continue
        if name == "sort":
            asked += [{"sort": each} for each in schema["enum"]]
            continue
        asked.append({name: fitting(name, schema)})
    return asked


def fitting(name: str, schema: Record) -> Any:
    if schema.get("type") == "array":
        return fitting(name, follow(schema["items"]))
    if "enum" in schema:
        return schema["enum"][0]
    by_format = {"uuid": NOBODY, "date": "2025-01-01", "date-time": SENT}
    if schema.get("format") in by_format:
        return by_format[schema["format"]]
    return {"boolean": "true", "integer": schema.get("minimum", 1)}.get(schema["type"], "x")
