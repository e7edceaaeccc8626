"""Files that come with bills and vendor credits."""

from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.files import CSV, PDF, follow, in_json, names
from tests.builders.purchases import BILLS, CREDITS, bill_body, vendor_credit_body
from tests.builders.trade import Record, line, read
from tests.partner import Business

LINES = {BILLS: {"line_items": [line()]}, CREDITS: {}}
KINDS = {BILLS: "bill", CREDITS: "vendor_credit"}


def body(path: str, vendor: Record, **facts: Any) -> Record:
    return (bill_body if path == BILLS else vendor_credit_body)(vendor, **facts)


@pytest.mark.parametrize("path", [BILLS, CREDITS])
class TestDocumentsOfPurchases:
    def test_what_is_created_comes_with_its_file(
        self, shop: Business, vendor: Record, path: str
    ) -> None:
        made = shop.made(path, body(path, vendor, document=in_json(PDF, "scan.pdf", tags=["x"])))
        document = made["document"]
        assert (document["file_name"], document["file_size"]) == ("scan.pdf", len(PDF))
        assert follow(shop, document["url"]).content == PDF
        whole = shop.api.get(f"documents/{document['document_id']}/").json()
        assert (whole["linked_type"], whole["linked_id"]) == (KINDS[path], made["id"])
        assert (whole["document_type"], whole["tags"]) == (f"{KINDS[path]}_document", ["x"])

    def test_a_replacement_adds_one_and_that_alone_is_a_change(
        self, shop: Business, vendor: Record, path: str
    ) -> None:
        made = shop.made(path, body(path, vendor, document=in_json(PDF, "first.pdf")))
        answer = shop.api.put(
            f"{path}{made['id']}/", json={**LINES[path], "document": in_json(CSV, "second.csv")}
        )
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert answer.json()["document"]["file_name"] == "second.csv"
        assert read(shop, path, made)["document"]["file_name"] == "second.csv"
        assert answer.json()["updated_at"] > made["updated_at"]

    def test_another_kind_of_file_is_not_taken_and_nothing_is_kept(
        self, api_server: ApiServer, shop: Business, ledger: Ledger, vendor: Record, path: str
    ) -> None:
        made, wrong = shop.made(path, body(path, vendor)), in_json(b"MZ" + bytes(9))
        before = names(api_server, shop)
        with ledger.untouched():
            for answer in (
                shop.api.post(path, json=body(path, vendor, document=wrong)),
                shop.api.put(f"{path}{made['id']}/", json={**LINES[path], "document": wrong}),
            ):
                assert answer.status_code == 415
                assert answer.json()["error_code"] == "unsupported_media_type"
        assert names(api_server, shop) == before

    def test_a_preview_keeps_no_file(
        self, api_server: ApiServer, shop: Business, ledger: Ledger, vendor: Record, path: str
    ) -> None:
        before = names(api_server, shop)
        with ledger.untouched():
            seen = shop.api.post(
                f"{path}?preview=true", json=body(path, vendor, document=in_json())
            )
        assert (seen.status_code, seen.json()["document"]["file_name"]) == (200, "paper.pdf")
        assert names(api_server, shop) == before

    def test_a_list_of_credits_shows_the_latest_and_one_of_bills_none(
        self, shop: Business, vendor: Record, path: str
    ) -> None:
        made = shop.made(path, body(path, vendor, document=in_json(PDF, "listed.pdf")))
        listed = shop.api.get(path, params={"page_size": 100}).json()["results"]
        [shown] = [each for each in listed if each["id"] == made["id"]]
        assert ("document" in shown) is (path == CREDITS)
        if path == CREDITS:
            assert shown["document"]["file_name"] == "listed.pdf"
