"""Tax codes: some are changed and archived, and the past of those that posted lines name stays."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import sent
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.trade import NOBODY, Record
from tests.contract.refusals import is_as_shown
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import faults_in, tamper

ALWAYS = {"recoverable_percent": 100, "valid_from": None, "valid_to": None}


def post_with(api_server: ApiServer, shop: Business, code: Record) -> None:
    """Let a posted line name a code."""
    sent(shop, shop.customer(), 100)
    tamper(
        api_server,
        "UPDATE journal_line SET tax_code_id = %s, tax_rate = 20, tax_part = 'net'"
        " WHERE business_id = %s AND tax_code_id IS NULL",
        code["id"],
        shop.id,
    )


@pytest.fixture(scope="module")
def used(api_server: ApiServer, acme: Partner) -> tuple[Business, Record]:
    """A business, and a code that its posted lines name."""
    shop = acme.business()
    code = codes_of(shop)["S20"]
    post_with(api_server, shop, code)
    return shop, code


class TestUpdateTaxCode:
    def test_an_update_changes_the_given_fields(self, shop: Business) -> None:
        before = shop.made(CODES, code_body("U1"))
        given = {"code": "U1.n", "name": "New", "direction": "purchases", "treatment": "reduced"}
        more = {"rates": [{**ALWAYS, "rate": 5}], "boxes": {"net": ["7"]}}
        path = f"{CODES}{before['id']}/"
        answer = shop.api.patch(path, json={**given, **more, "tax_account": "2400"})
        after = answer.json()
        kept = {name: after[name] for name in ("updated_at", "tax_account", "current_rate")}
        assert after == {**before, **given, **more, **kept}
        assert (after["tax_account"]["code"], after["current_rate"]["rate"]) == ("2400", 5)
        assert answer.headers["etag"] == '"2"'
        assert shop.api.get(path).json() == after

    def test_nothing_changed_is_no_new_version(self, shop: Business, ledger: Ledger) -> None:
        before = shop.made(CODES, code_body("U2"))
        same = {"name": before["name"], "rates": before["rates"], "is_active": True}
        for changes in ({}, same):
            with ledger.untouched():
                answer = shop.api.patch(f"{CODES}{before['id']}/", json=changes)
            assert (answer.status_code, answer.json()) == (200, before)
            assert answer.headers["etag"] == '"1"'

    def test_is_active_archives_and_brings_back(self, shop: Business) -> None:
        path = f"{CODES}{shop.made(CODES, code_body('U3'))['id']}/"
        gone = shop.api.patch(path, json={"is_active": False}).json()
        assert (gone["is_active"], gone["archived_at"]) == (False, gone["updated_at"])
        back = shop.api.patch(path, json={"is_active": True}).json()
        assert (back["is_active"], back["archived_at"]) == (True, None)

    def test_the_default_moves(self, acme: Partner) -> None:
        shop = acme.business()
        codes = codes_of(shop)
        path = f"{CODES}{codes['S5']['id']}/"
        assert shop.api.patch(path, json={"is_default": True}).json()["is_default"]
        assert not codes_of(shop)["S20"]["is_default"]
        assert shop.api.patch(path, json={"is_default": False}).status_code == 200
        assert {code for code, each in codes_of(shop).items() if each["is_default"]} == {"P20"}

    def test_an_archived_one_cannot_be_the_default(self, shop: Business, ledger: Ledger) -> None:
        path = f"{CODES}{shop.made(CODES, code_body('U4'))['id']}/"
        shop.api.delete(path)
        with ledger.untouched():
            answer = shop.api.patch(path, json={"is_default": True})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "tax_code_archived")

    def test_a_code_of_another_one_is_refused(self, shop: Business, ledger: Ledger) -> None:
        path = f"{CODES}{shop.made(CODES, code_body('U5'))['id']}/"
        with ledger.untouched():
            answer = shop.api.patch(path, json={"code": "S20"})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_tax_code")

    def test_an_inconsistent_update_is_refused(self, shop: Business, ledger: Ledger) -> None:
        path = f"{CODES}{shop.made(CODES, code_body('U6'))['id']}/"
        with ledger.untouched():
            answer = shop.api.patch(path, json={"treatment": "exempt"})
        assert answer.status_code == 400
        assert "rates.0.rate" in answer.json()["detail"]["field_errors"]

    def test_an_account_that_may_not_be_given_is_refused(
        self, shop: Business, ledger: Ledger
    ) -> None:
        path = f"{CODES}{shop.made(CODES, code_body('U7'))['id']}/"
        with ledger.untouched():
            answer = shop.api.patch(path, json={"tax_account": "1200"})
        assert (answer.status_code, answer.json()["error_code"]) == (422, "control_account")

    def test_an_unknown_one_is_not_found(self, shop: Business) -> None:
        answer = shop.api.patch(f"{CODES}{NOBODY}/", json={"name": "x"})
        assert (answer.status_code, answer.json()["error_code"]) == (404, "tax_code_not_found")

    def test_a_stale_version_is_refused(self, shop: Business) -> None:
        path = f"{CODES}{shop.made(CODES, code_body('U8'))['id']}/"
        shop.api.patch(path, json={"name": "Once"})
        stale = {"If-Match": '"1"'}
        assert shop.api.patch(path, json={"name": "Twice"}, headers=stale).status_code == 412
        assert shop.api.delete(path, headers=stale).status_code == 412


class TestUpdateTaxCodeInUse:
    @pytest.mark.parametrize(
        ("changes", "fields"),
        [
            ({"direction": "purchases"}, ["direction"]),
            ({"treatment": "reduced"}, ["treatment"]),
            ({"rates": [{"rate": 21}]}, ["rates"]),
            ({"rates": [{"rate": 20, "valid_to": "2026-01-01"}]}, ["rates"]),
            (
                {"treatment": "zero", "is_default": False, "rates": [{"rate": 0}]},
                ["treatment", "rates"],
            ),
        ],
    )
    def test_its_past_stays(
        self, used: tuple[Business, Record], changes: Record, fields: list[str]
    ) -> None:
        shop, code = used
        answer = shop.api.patch(f"{CODES}{code['id']}/", json=changes)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "tax_code_in_use")
        assert answer.json()["detail"] == {"tax_code_id": code["id"], "fields": fields}
        assert shop.api.get(f"{CODES}{code['id']}/").json() == code

    def test_its_treatment_and_its_rates_stay_in_these_words(
        self, used: tuple[Business, Record]
    ) -> None:
        shop, code = used
        changes = {"treatment": "reduced", "rates": [{"rate": 5}]}
        answer = shop.api.patch(f"{CODES}{code['id']}/", json=changes)
        assert is_as_shown("TaxCodeInUse", answer)

    def test_a_code_in_use_can_get_a_later_rate(self, used: tuple[Business, Record]) -> None:
        shop, code = used
        last = datetime.now(UTC).date() + timedelta(days=1)
        first = last + timedelta(days=1)
        rates = [
            {"rate": 20, "valid_to": str(last)},
            {"rate": 22, "valid_from": str(first)},
        ]
        changed = shop.api.patch(f"{CODES}{code['id']}/", json={"rates": rates}).json()
        assert [date.fromisoformat(changed["rates"][1]["valid_from"])] == [first]
        assert changed["current_rate"]["rate"] == 20

    def test_a_code_in_use_is_archived_and_stays_readable(
        self, used: tuple[Business, Record]
    ) -> None:
        shop, code = used
        answer = shop.api.delete(f"{CODES}{code['id']}/")
        assert (answer.status_code, answer.json()["is_active"]) == (200, False)
        assert shop.api.get(f"{CODES}{code['id']}/").json() == answer.json()


class TestArchiveTaxCode:
    def test_a_code_is_archived_once_and_is_no_default(
        self, acme: Partner, api_server: ApiServer
    ) -> None:
        shop = acme.business()
        code = codes_of(shop)["S20"]
        first = shop.api.delete(f"{CODES}{code['id']}/")
        assert (first.status_code, first.headers["etag"]) == (200, '"2"')
        gone = first.json()
        assert (gone["is_active"], gone["is_default"]) == (False, False)
        again = shop.api.delete(f"{CODES}{code['id']}/")
        assert (again.status_code, again.json(), again.headers["etag"]) == (200, gone, '"2"')
        assert faults_in(api_server, shop) == set()

    def test_its_code_stays_taken(self, shop: Business) -> None:
        code = shop.made(CODES, code_body("A1"))
        shop.api.delete(f"{CODES}{code['id']}/")
        answer = shop.api.post(CODES, json=code_body("A1"))
        assert answer.json()["error_code"] == "duplicate_tax_code"

    def test_an_unknown_one_is_not_found(self, shop: Business) -> None:
        answer = shop.api.delete(f"{CODES}{NOBODY}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "tax_code_not_found")

    def test_not_in_an_archived_business(self, acme: Partner) -> None:
        shop = acme.business()
        code = codes_of(shop)["S20"]
        acme.api.post(f"/v1/platform/businesses/{shop.id}/archive/")
        for answer in (
            shop.api.delete(f"{CODES}{code['id']}/"),
            shop.api.patch(f"{CODES}{code['id']}/", json={"name": "x"}),
            shop.api.post(CODES, json=code_body("X")),
        ):
            assert (answer.status_code, answer.json()["error_code"]) == (409, "business_archived")
