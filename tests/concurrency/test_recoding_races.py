"""Lines get other accounts while the same documents are settled, released and refunded."""

from typing import ClassVar

import httpx

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import sent
from tests.builders.trade import Record, line
from tests.concurrency.racers import InvoiceContest, Receiver
from tests.concurrency.races import race_until_done
from tests.partner import Business
from tests.persistence.integrity.book_faults import faults_in

CODES = ("4000", "4500", "4600")


class Bookkeeper(Receiver):
    """A client that also puts lines of the invoices on other accounts."""

    moves: ClassVar = {
        **{"pay": 4, "reallocate": 4, "turn": 3, "credit": 3, "reapply": 3, "write_off": 2},
        **{"reverse": 2, "refund": 2, "recode": 6},
    }

    def recode(self) -> httpx.Response:
        """Put a line of an invoice on another account."""
        path = f"invoices/{self.one(self.contest.invoices)}/"
        [*lines] = self.api.get(path).json()["line_items"]
        account = {"type": "AccountCode", "code": self.dice.choice(CODES)}
        item = {"id": self.dice.choice(lines)["id"], "account_identifier": account}
        return self.api.patch(path, json={"line_items": [item]})


class TestRecodingSettledInvoices:
    def test_the_books_agree_whatever_settles_meanwhile(
        self, api_server: ApiServer, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        items = [line(333, tax_rate=20), line(500), line(167, tax_rate=20)]
        documents = [sent(shop, buyer, line_items=items)["id"] for _ in range(3)]
        contest = InvoiceContest(buyer=buyer, invoices=documents)
        wanted = {"pay", "reallocate", "credit", "write_off", "recode"}
        race_until_done(Bookkeeper, contest, shop, clients=8, wanted=wanted)
        assert contest.count(lambda status: status < 300) > 0
        for path in documents:
            shown = shop.api.get(f"invoices/{path}/").json()
            assert shown["total_amount"] == 1_100
        assert faults_in(api_server, shop) == set()
        ledger.audit()
