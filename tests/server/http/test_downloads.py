"""Links to stored documents: valid and invalid ones, and their answers."""

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

import pytest

from access.links import LinkSigner
from access.master_secrets import MasterSecret
from tests import clock
from tests.api_server import SECRET, ApiServer, Databases
from tests.builders.files import KINDS, PDF, XML, follow, in_json, names, upload
from tests.builders.trade import NOBODY
from tests.partner import PATIENCE_SECONDS, Business, Partner, within

SIGNER = LinkSigner([SECRET])


@pytest.fixture(scope="module")
def shop(api_server: ApiServer) -> Business:
    """A business created yesterday, so that links from an hour ago are not revoked."""
    shop = api_server.partner("Acme").business()
    for table, id_ in (("business", shop.id), ("partner", shop.partner.partner_id)):
        api_server.query(
            f"UPDATE {table} SET tokens_valid_from = now() - interval '1 day' WHERE id = %s"
            " RETURNING id",
            id_,
        )
    return shop


@pytest.fixture(scope="module")
def document(shop: Business) -> dict[str, Any]:
    made: dict[str, Any] = upload(shop, PDF, "Terms 7.pdf").json()
    return made


def signed(shop: Business, document_id: str, at: datetime) -> str:
    return SIGNER.sign(UUID(shop.id), UUID(document_id), at)


def refused(shop: Business, url: str) -> None:
    answer = follow(shop, url)
    assert (answer.status_code, answer.json()["error_code"]) == (403, "permission_denied")
    assert answer.json()["error"] == answer.json()["message"]


class TestDownload:
    def test_a_download_needs_no_credentials_and_has_its_media_type_and_name(
        self, shop: Business, document: dict[str, Any]
    ) -> None:
        answer = follow(shop, document["url"])
        assert (answer.status_code, answer.content) == (200, PDF)
        headers = answer.headers
        assert headers["content-type"] == "application/pdf"
        assert headers["content-length"] == str(len(PDF))
        assert headers["content-disposition"] == 'attachment; filename="Terms 7.pdf"'

    @pytest.mark.parametrize("kind", KINDS)
    def test_each_kind_is_served_as_what_it_is(self, shop: Business, kind: str) -> None:
        answer = follow(shop, upload(shop, KINDS[kind]).json()["url"])
        assert (answer.headers["content-type"], answer.content) == (kind, KINDS[kind])

    def test_the_standing_headers_are_there(self, shop: Business, document: dict[str, Any]) -> None:
        headers = follow(shop, document["url"], headers={"X-Request-ID": "mine"}).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["x-request-id"] == "mine"
        assert "server" not in headers

    def test_head_is_the_same_without_the_content(
        self, shop: Business, document: dict[str, Any]
    ) -> None:
        with shop.partner.client(shop.partner.url) as stranger:
            answer = stranger.head(document["url"])
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["content-length"] == str(len(PDF))

    def test_a_link_works_with_a_final_slash(
        self, shop: Business, document: dict[str, Any]
    ) -> None:
        assert follow(shop, document["url"].replace("?", "/?")).content == PDF

    @pytest.mark.parametrize(
        ("name", "content", "plain", "exact"),
        [
            ("Müller 咖啡.pdf", PDF, "M_ller __.pdf", "Müller 咖啡.pdf"),
            ('a"b;c.pdf', PDF, "a_b;c.pdf", 'a"b;c.pdf'),
            ("50%.pdf", PDF, "50_.pdf", "50%.pdf"),
            ("page.html", XML, "page.html.xml", None),
            ("run.exe", PDF, "run.exe.pdf", None),
            ("SCAN.PDF", PDF, "SCAN.PDF", None),
            ("photo.jpeg", KINDS["image/jpeg"], "photo.jpeg", None),
        ],
    )
    def test_the_name_to_save_it_by_is_safe_and_tells_its_kind(
        self, shop: Business, name: str, content: bytes, plain: str, exact: str | None
    ) -> None:
        body = {"company_name": "N", "document": in_json(content, name)}
        [made] = shop.made("customers/", body)["documents"]
        said = follow(shop, made["url"]).headers["content-disposition"]
        first, _, second = said.partition("; filename*=UTF-8''")
        assert first == f'attachment; filename="{plain}"'
        assert (unquote(second) or None) == exact


class TestRefusedLinks:
    def test_a_tampered_one(self, shop: Business, document: dict[str, Any]) -> None:
        path, _, query = document["url"].partition("?")
        for place in range(0, len(query), 7):
            letter = "0" if query[place] != "0" else "1"
            refused(shop, f"{path}?{query[:place]}{letter}{query[place + 1 :]}")
        refused(shop, path)
        refused(shop, f"{document['url']}&download=1")

    def test_an_expired_link_is_refused(self, shop: Business, document: dict[str, Any]) -> None:
        now = clock.now()
        refused(shop, signed(shop, document["id"], now - timedelta(seconds=901)))
        fresh = signed(shop, document["id"], now - timedelta(seconds=600))
        assert follow(shop, fresh).status_code == 200

    def test_a_link_that_expires_between_requests_is_refused(
        self, shop: Business, document: dict[str, Any]
    ) -> None:
        for _ in range(5):  # A busy machine may pause for longer than the link lives.
            url = signed(shop, document["id"], clock.now() - timedelta(seconds=898))
            held = follow(shop, url).status_code == 200
            if held:
                break
        assert held
        assert within(PATIENCE_SECONDS, lambda: follow(shop, url).status_code != 200)
        refused(shop, url)

    def test_a_link_to_an_unknown_document_is_404(self, shop: Business) -> None:
        answer = follow(shop, signed(shop, NOBODY, clock.now()))
        assert (answer.status_code, answer.json()["error_code"]) == (404, "document_not_found")

    def test_a_link_of_an_unknown_business_is_404(self, shop: Business) -> None:
        url = SIGNER.sign(UUID(NOBODY), UUID(NOBODY), clock.now())
        assert follow(shop, url).status_code == 404

    def test_a_link_of_another_business_does_not_open_a_document(
        self, shop: Business, document: dict[str, Any], rival: Partner
    ) -> None:
        other = rival.business()
        now = clock.now()
        assert follow(shop, signed(other, document["id"], now)).status_code == 404
        path, _, query = document["url"].partition("?")
        refused(shop, f"{path.replace(shop.id, other.id)}?{query}")

    def test_a_malformed_link_is_404_or_refused(self, shop: Business) -> None:
        for path in ("/", "", f"/{shop.id}", "/a/b/c", "/..%2f..%2fetc/passwd"):
            answer = follow(shop, f"/documents{path}")
            assert (answer.status_code, answer.json()["error_code"]) == (404, "route_not_found")
        refused(shop, "/documents/a/b")
        refused(shop, "/documents/%2e%2e/passwd")

    def test_a_file_that_somebody_took_away_is_not_found(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        before = set(names(api_server, shop))
        made = upload(shop).json()
        [name] = set(names(api_server, shop)) - before
        (api_server.folder / shop.id / name).unlink()
        answer = follow(shop, made["url"])
        assert (answer.status_code, answer.json()["error_code"]) == (404, "document_not_found")


class TestRevocation:
    def test_a_revocation_of_all_tokens_ends_the_links_of_a_partner(
        self, api_server: ApiServer
    ) -> None:
        shop = api_server.partner("Revoked").business()
        url = upload(shop).json()["url"]
        assert follow(shop, url).status_code == 200
        self.change(api_server, shop, "tokens_valid_from = now() + interval '1 second'")
        refused(shop, url)

    def test_a_link_of_a_disabled_partner_is_refused(self, api_server: ApiServer) -> None:
        shop = api_server.partner("Disabled").business()
        url = upload(shop).json()["url"]
        self.change(api_server, shop, "disabled_at = now()")
        refused(shop, url)

    def change(self, api_server: ApiServer, shop: Business, change: str) -> None:
        """Change the partner of a business in the database."""
        statement = f"UPDATE partner SET {change} WHERE id = %s RETURNING id"
        api_server.query(statement, shop.partner.partner_id)


class TestSettings:
    @pytest.fixture
    def changed(self, databases: Databases) -> Iterator[ApiServer]:
        newer = MasterSecret("newer", bytes(range(100, 132)))
        with ApiServer(
            databases.clone(f"links_{os.getpid()}"),
            public_url="https://api.example.com",
            secrets=(newer, SECRET),
        ) as api_server:
            yield api_server

    def test_the_public_address_begins_the_link_and_an_older_secret_still_opens(
        self, changed: ApiServer
    ) -> None:
        shop = changed.partner("Acme").business()
        document = upload(shop).json()
        assert document["url"].startswith(f"https://api.example.com/documents/{shop.id}/")
        parts = urlsplit(document["url"])
        assert follow(shop, f"{parts.path}?{parts.query}").content == PDF
        older = signed(shop, document["id"], clock.now())
        assert older != document["url"].removeprefix("https://api.example.com")
        assert follow(shop, older).content == PDF
