"""Changes and archiving of tax codes; a code keeps its past once posted lines name it."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import sent
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.trade import Record
from tests.contract.refusals import is_as_shown
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import faults_in, tamper

_numbers = count(1)
Used = tuple[Business, Record]
ALWAYS = {"recoverable_percent": 100, "valid_from": None, "valid_to": None}


def post_with(api_server: ApiServer, shop: Business, code: Record) -> None:
    """Change posted lines so that they name a code."""
    sent(shop, shop.customer(), 100)
    tamper(
        api_server,
        "UPDATE journal_line SET tax_code_id = %s, tax_rate = 20, tax_part = 'net'"
        " WHERE business_id = %s AND tax_code_id IS NULL",
        code["id"],
        shop.id,
    )


def path_of(code: Record) -> str:
    return f"{CODES}{code['id']}/"


@pytest.fixture
def unused(shop: Business) -> Record:
    """A code that no record names."""
    return shop.made(CODES, code_body(f"U{next(_numbers)}"))


@pytest.fixture(scope="module")
def used(api_server: ApiServer, acme: Partner) -> Used:
    """A business, and a code that its posted lines name."""
    shop = acme.business()
    code = codes_of(shop)["S20"]
    post_with(api_server, shop, code)
    return shop, code


class TestUpdateTaxCode:
    def test_an_update_changes_the_given_fields(self, shop: Business, unused: Record) -> None:
        given = {"code": "U1.n", "name": "New", "direction": "purchases", "treatment": "reduced"}
        more = {"rates": [{**ALWAYS, "rate": 5}], "boxes": {"net": ["7"]}}
        path = path_of(unused)
        answer = shop.api.patch(path, json={**given, **more, "tax_account": "2400"})
        after = answer.json()
        kept = {name: after[name] for name in ("updated_at", "tax_account", "current_rate")}
        assert after == {**unused, **given, **more, **kept}
        assert (after["tax_account"]["code"], after["current_rate"]["rate"]) == ("2400", 5)
        assert answer.headers["etag"] == '"2"'
        assert shop.api.get(path).json() == after

    def test_an_equal_update_makes_no_new_version(
        self, shop: Business, ledger: Ledger, unused: Record
    ) -> None:
        same = {"name": unused["name"], "rates": unused["rates"], "is_active": True}
        for changes in ({}, same):
            with ledger.untouched():
                answer = shop.api.patch(path_of(unused), json=changes)
            assert (answer.status_code, answer.json()) == (200, unused)
            assert answer.headers["etag"] == '"1"'

    def test_is_active_archives_and_restores(self, shop: Business, unused: Record) -> None:
        path = path_of(unused)
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

    def test_an_archived_one_cannot_be_the_default(
        self, shop: Business, ledger: Ledger, unused: Record
    ) -> None:
        path = path_of(unused)
        shop.api.delete(path)
        refused = ledger.refused("PATCH", path, json={"is_default": True})
        assert refused == (409, "tax_code_archived")

    @pytest.mark.parametrize(
        ("changes", "status", "code"),
        [
            ({"code": "S20"}, 409, "duplicate_tax_code"),
            ({"tax_account": "1200"}, 422, "control_account"),
        ],
    )
    def test_a_taken_code_or_a_control_account_is_refused(
        self, ledger: Ledger, unused: Record, changes: Record, status: int, code: str
    ) -> None:
        assert ledger.refused("PATCH", path_of(unused), json=changes) == (status, code)

    def test_an_inconsistent_update_is_refused(
        self, shop: Business, ledger: Ledger, unused: Record
    ) -> None:
        with ledger.untouched():
            answer = shop.api.patch(path_of(unused), json={"treatment": "exempt"})
        assert answer.status_code == 400
        assert "rates.0.rate" in answer.json()["detail"]["field_errors"]


class TestUpdateTaxCodeInUse:
    def test_its_past_stays(self, used: Used) -> None:
        shop, code = used
        changes = {"treatment": "zero", "is_default": False, "rates": [{"rate": 0}]}
        answer = shop.api.patch(path_of(code), json=changes)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "tax_code_in_use")
        fields = ["treatment", "rates"]
        assert answer.json()["detail"] == {"tax_code_id": code["id"], "fields": fields}
        assert shop.api.get(path_of(code)).json() == code

    def test_its_treatment_and_its_rates_stay_in_these_words(self, used: Used) -> None:
        shop, code = used
        changes = {"treatment": "reduced", "rates": [{"rate": 5}]}
        answer = shop.api.patch(path_of(code), json=changes)
        assert is_as_shown("TaxCodeInUse", answer)

    def test_a_code_in_use_can_get_a_later_rate(self, used: Used) -> None:
        shop, code = used
        last = datetime.now(UTC).date() + timedelta(days=1)
        first = last + timedelta(days=1)
        rates = [{"rate": 20, "valid_to": str(last)}, {"rate": 22, "valid_from": str(first)}]
        changed = shop.api.patch(path_of(code), json={"rates": rates}).json()
        assert changed["rates"][1]["valid_from"] == str(first)
        assert changed["current_rate"]["rate"] == 20

    def test_a_code_in_use_is_archived_and_stays_readable(self, used: Used) -> None:
        shop, code = used
        answer = shop.api.delete(path_of(code))
        assert (answer.status_code, answer.json()["is_active"]) == (200, False)
        assert shop.api.get(path_of(code)).json() == answer.json()


class TestArchiveTaxCode:
    def test_a_code_is_archived_once_and_is_no_default(
        self, acme: Partner, api_server: ApiServer
    ) -> None:
        shop = acme.business()
        code = codes_of(shop)["S20"]
        first = shop.api.delete(path_of(code))
        assert (first.status_code, first.headers["etag"]) == (200, '"2"')
        gone = first.json()
        assert (gone["is_active"], gone["is_default"]) == (False, False)
        again = shop.api.delete(path_of(code))
        assert (again.status_code, again.json(), again.headers["etag"]) == (200, gone, '"2"')
        assert faults_in(api_server, shop) == set()

    def test_an_archived_code_stays_taken(
        self, shop: Business, ledger: Ledger, unused: Record
    ) -> None:
        shop.api.delete(path_of(unused))
        refused = ledger.refused("POST", CODES, json=code_body(unused["code"]))
        assert refused == (409, "duplicate_tax_code")
