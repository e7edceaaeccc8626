"""Faults of storages, flushes and commits: a document is stored if and only if its record is."""

import os
import socket
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from tests.api_server import ApiServer, Databases
from tests.builders.files import CSV, PDF, follow, in_json, names, records, upload
from tests.object_store import ObjectStore
from tests.partner import PATIENCE_SECONDS, Business, Partner, within
from tests.persistence.engine.cut_wire import Wire


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


def create(shop: Business, name: str, **options: str) -> httpx.Response:
    body = {"company_name": name, "external_id": name, "document": in_json(PDF)}
    return shop.api.post("customers/", json=body, headers=options)


def customers(shop: Business) -> list[str]:
    listed = shop.api.get("customers/").json()["results"]
    return [each["company_name"] for each in listed]


def unavailable(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error_code"] == "service_unavailable"
    assert answer.json()["detail"].keys() == {"retry_after_seconds"}


class TestFolderThatCannotBeWritten:
    @pytest.fixture
    def blocked(self, api_server: ApiServer, shop: Business) -> Iterator[None]:
        """Put a file where the business's folder has to be, as root may write everywhere else."""
        place = api_server.folder / shop.id
        place.write_text("in the way")
        yield
        place.unlink(missing_ok=True)

    @pytest.mark.usefixtures("blocked")
    def test_nothing_is_committed_and_the_answer_is_503(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        unavailable(create(shop, "Never"))
        unavailable(upload(shop))
        assert (customers(shop), records(api_server, shop)) == ([], 0)

    def test_a_key_is_usable_again_once_the_folder_is_writable(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        place = api_server.folder / shop.id
        place.write_text("in the way")
        unavailable(create(shop, "Later", **key))
        place.unlink()
        made = create(shop, "Later", **key)
        assert (made.status_code, customers(shop)) == (201, ["Later"])
        assert "idempotent-replayed" not in made.headers
        [document] = made.json()["documents"]
        assert follow(shop, document["url"]).content == PDF
        assert (len(names(api_server, shop)), records(api_server, shop)) == (1, 1)

    @pytest.mark.usefixtures("blocked")
    def test_requests_without_files_are_served(self, shop: Business) -> None:
        shop.customer(company_name="Without paper")
        assert customers(shop) == ["Without paper"]


class TestFlushThatRefuses:
    @pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "refused"}])
    def test_no_file_is_left(
        self, api_server: ApiServer, shop: Business, headers: dict[str, str]
    ) -> None:
        one = shop.customer(external_id="taken")
        other = shop.customer()
        before = names(api_server, shop), records(api_server, shop)
        changes = {"external_id": "taken", "document": in_json(CSV, "a.csv")}
        for _ in range(2):
            answer = shop.api.patch(f"customers/{other['id']}/", json=changes, headers=headers)
            refused = (answer.status_code, answer.json()["error_code"])
            assert refused == (409, "duplicate_external_id")
            assert answer.json()["detail"] == {"external_id": "taken", "id": one["id"]}
        assert (names(api_server, shop), records(api_server, shop)) == before

    def test_a_refusal_of_the_rules_leaves_none_either(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        person = shop.made("customers/", {"individual_name": "Maya"})
        nameless = {"individual_name": None, "document": in_json()}
        answer = shop.api.patch(f"customers/{person['id']}/", json=nameless)
        assert answer.status_code in (400, 422)
        stale = shop.api.patch(
            f"customers/{person['id']}/",
            json={"document": in_json()},
            headers={"If-Match": '"7"'},
        )
        assert stale.status_code == 412
        assert (names(api_server, shop), records(api_server, shop)) == ([], 0)


class TestCallerThatHangsUp:
    def test_whole_requests_are_kept_with_their_files_and_halves_leave_nothing(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        request = shop.api.build_request(
            "POST", "documents/", files={"file": ("a.pdf", PDF.ljust(100_000, b" "))}
        )
        lines = [f"{name}: {value}" for name, value in request.headers.items()]
        head = "\r\n".join([f"POST {request.url.path} HTTP/1.1", *lines, "", ""])
        whole = head.encode() + request.read()
        for missing in (0, 1, 0, 50_000, 0):
            with socket.create_connection((request.url.host, request.url.port)) as connection:
                connection.sendall(whole[: len(whole) - missing])
        assert within(PATIENCE_SECONDS, lambda: records(api_server, shop) >= 3)
        assert (records(api_server, shop), len(names(api_server, shop))) == (3, 3)


class TestLostDuringCommit:
    @pytest.fixture
    def wire(self, api_server: ApiServer) -> Iterator[Wire]:
        with Wire(api_server.database_url) as wire:
            yield wire

    @pytest.fixture
    def far(self, wire: Wire, api_server: ApiServer, shop: Business) -> Iterator[Business]:
        """The same business and storage, with its database behind the wire."""
        with ApiServer(wire.url, documents=api_server.settings.documents) as server:
            partner = Partner(server.url, shop.partner.partner_id, shop.partner.api_key)
            server.partners.append(partner)
            yield Business(partner, shop.record)

    @pytest.mark.parametrize(("place", "kept"), [("before", 0), ("after", 1)])
    def test_the_file_stays_since_nobody_knows_whether_a_record_names_it(
        self,
        wire: Wire,
        far: Business,
        api_server: ApiServer,
        shop: Business,
        place: str,
        kept: int,
    ) -> None:
        far.api.get("customers/")
        wire.cut = place
        unavailable(upload(far))
        assert wire.cuts == 1
        assert (records(api_server, shop), len(names(api_server, shop))) == (kept, 1)
        for document in shop.api.get("documents/").json()["results"]:
            assert follow(shop, document["url"]).content == PDF

    @pytest.mark.parametrize(("place", "files"), [("before", 2), ("after", 1)])
    def test_with_a_key_there_is_one_record_and_its_file(
        self,
        wire: Wire,
        far: Business,
        api_server: ApiServer,
        shop: Business,
        place: str,
        files: int,
    ) -> None:
        far.api.get("customers/")
        wire.cut = place
        made = upload(far, headers={"Idempotency-Key": str(uuid4())})
        assert (made.status_code, wire.cuts) == (201, 1)
        # After a cut before COMMIT, the first file remains until the sweep.
        assert (records(api_server, shop), len(names(api_server, shop))) == (1, files)
        assert follow(shop, made.json()["url"]).content == PDF


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with ObjectStore() as store:
        yield store


@pytest.fixture(scope="module")
def own_server(databases: Databases, store: ObjectStore) -> Iterator[ApiServer]:
    with ApiServer(
        databases.clone(f"object_store_{os.getpid()}"), documents=store.bucket()
    ) as api_server:
        yield api_server


class TestObjectStore:
    @pytest.fixture
    def customer(self, own_server: ApiServer) -> Business:
        return own_server.partner("Acme").business()

    def test_files_are_kept_below_the_business_and_fetched_again(
        self, store: ObjectStore, own_server: ApiServer, customer: Business
    ) -> None:
        made = upload(customer, PDF, "../../paper.pdf").json()
        [key] = [key for key in store.keys if key.startswith(customer.id)]
        assert key.count("/") == 1
        assert "paper" not in key
        assert (store.folder / key).read_bytes() == PDF
        assert follow(customer, made["url"]).content == PDF
        assert list(own_server.folder.iterdir()) == []

    def test_while_it_is_away_nothing_is_committed(
        self, store: ObjectStore, own_server: ApiServer, customer: Business
    ) -> None:
        made = upload(customer).json()
        keys = store.keys
        store.stop()
        try:
            key = {"Idempotency-Key": str(uuid4())}
            unavailable(upload(customer, headers=key))
            unavailable(create(customer, "Never"))
            unavailable(follow(customer, made["url"]))
            assert (customers(customer), records(own_server, customer)) == ([], 1)
            assert customer.api.get(f"documents/{made['id']}/").status_code == 200
        finally:
            store.start()
        assert follow(customer, made["url"]).content == PDF
        assert upload(customer, headers=key).status_code == 201
        assert (records(own_server, customer), len(store.keys - keys)) == (2, 1)

    def test_a_flush_that_refuses_leaves_nothing_in_it(
        self, store: ObjectStore, customer: Business
    ) -> None:
        customer.customer(external_id="taken")
        other, keys = customer.customer(), store.keys
        changes = {"external_id": "taken", "document": in_json()}
        answer = customer.api.patch(f"customers/{other['id']}/", json=changes)
        assert (answer.status_code, store.keys) == (409, keys)
