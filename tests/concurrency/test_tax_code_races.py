"""Many clients change the tax codes of one direction: one of them is the default at the end."""

from functools import partial

import pytest

from tests.api_server import ApiServer
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.concurrency.races import together
from tests.partner import Business
from tests.persistence.integrity.book_faults import faults_in


class TestTheDefault:
    @pytest.mark.usefixtures("rounds")
    def test_a_direction_has_one_default(self, api_server: ApiServer, shop: Business) -> None:
        codes = codes_of(shop)
        wanted = {"is_default": True}
        changes = [
            partial(shop.api.patch, f"{CODES}{codes[code]['id']}/", json=wanted)
            for code in ("S20", "S5") * 3
        ]
        bodies = [code_body(f"V{n}", is_default=True) for n in range(3)]
        gone = partial(shop.api.delete, f"{CODES}{codes['S5']['id']}/")
        ran = together([*changes, *(partial(shop.api.post, CODES, json=b) for b in bodies), gone])
        assert {each.code for each in ran} <= {None, "tax_code_archived"}
        defaults = [
            code for code, each in codes_of(shop, direction="sales").items() if each["is_default"]
        ]
        assert len(defaults) <= 1
        assert faults_in(api_server, shop) == set()
