"""Documents of invoices, bills and credits."""

from typing import NamedTuple

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.files import CSV, PDF, follow, in_json, names, records
from tests.builders.trade import PURCHASES, SALES, Record, line, read
from tests.partner import Business


class Kind(NamedTuple):
    """A kind of record with a document: its path and body, and the body of a replacement."""

    name: str
    path: str
    body: Record
    repeated: Record

    def made(self, shop: Business, document: Record) -> Record:
        return shop.made(self.path, {**self.body, "document": document})


@pytest.fixture(params=["invoice", "customer_credit", "bill", "vendor_credit"])
def kind(request: pytest.FixtureRequest, buyer: Record, vendor: Record) -> Kind:
    name: str = request.param
    is_sold = name in ("invoice", "customer_credit")
    trade, party = (SALES, buyer) if is_sold else (PURCHASES, vendor)
    if name == trade.noun:
        return Kind(name, trade.path, trade.body(party), {"line_items": [line()]})
    return Kind(name, trade.credits, trade.credit_body(party), {})


class TestDocumentsOfTrade:
    def test_a_created_object_is_returned_with_its_file(self, shop: Business, kind: Kind) -> None:
        made = kind.made(shop, in_json(PDF, "scan.pdf", tags=["x"]))
        document = made["document"]
        assert (document["file_name"], document["file_size"]) == ("scan.pdf", len(PDF))
        assert follow(shop, document["url"]).content == PDF
        whole = shop.api.get(f"documents/{document['document_id']}/").json()
        assert (whole["linked_type"], whole["linked_id"]) == (kind.name, made["id"])
        assert (whole["document_type"], whole["tags"]) == (f"{kind.name}_document", ["x"])

    def test_a_replacement_adds_one_and_that_alone_is_a_change(
        self, shop: Business, kind: Kind
    ) -> None:
        made = kind.made(shop, in_json(PDF, "first.pdf"))
        body = {**kind.repeated, "document": in_json(CSV, "second.csv")}
        answer = shop.api.put(f"{kind.path}{made['id']}/", json=body)
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert answer.json()["document"]["file_name"] == "second.csv"
        assert read(shop, kind.path, made)["document"]["file_name"] == "second.csv"
        assert answer.json()["updated_at"] > made["updated_at"]

    def test_a_file_of_another_media_type_is_refused_and_nothing_is_kept(
        self, api_server: ApiServer, shop: Business, ledger: Ledger, kind: Kind
    ) -> None:
        made, wrong = shop.made(kind.path, kind.body), in_json(b"MZ" + bytes(9))
        before = names(api_server, shop)
        for method, path, body in (
            ("POST", kind.path, {**kind.body, "document": wrong}),
            ("PUT", f"{kind.path}{made['id']}/", {**kind.repeated, "document": wrong}),
        ):
            assert ledger.refused(method, path, json=body) == (415, "unsupported_media_type")
        assert names(api_server, shop) == before

    def test_a_preview_keeps_no_file(
        self, api_server: ApiServer, shop: Business, ledger: Ledger, kind: Kind
    ) -> None:
        before = names(api_server, shop), records(api_server, shop)
        body = {**kind.body, "document": in_json()}
        with ledger.untouched():
            seen = shop.api.post(f"{kind.path}?preview=true", json=body)
        assert (seen.status_code, seen.json()["document"]["file_name"]) == (200, "paper.pdf")
        assert follow(shop, seen.json()["document"]["url"]).status_code == 404
        assert (names(api_server, shop), records(api_server, shop)) == before

    def test_a_list_of_credits_shows_the_latest_and_one_of_others_none(
        self, shop: Business, kind: Kind
    ) -> None:
        made = kind.made(shop, in_json(PDF, "listed.pdf"))
        listed = shop.api.get(kind.path, params={"page_size": 100}).json()["results"]
        [shown] = [each for each in listed if each["id"] == made["id"]]
        name = shown.get("document", {}).get("file_name")
        assert name == ("listed.pdf" if kind.name.endswith("_credit") else None)
