"""The records that the fuzzer finds: a partner, a business and many records of each kind.

Records that a run uses up, such as drafts to send and payments to cancel, exist many times.
Requests that would close the books for all others, such as archiving and locking, have businesses
of their own.
"""

import json
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path

import yaml

from tests import clock
from tests.api_server import ApiServer
from tests.builders.exchange_rates import table_set
from tests.builders.sales import sent
from tests.builders.trade import SALES, Record
from tests.fuzz import files
from tests.fuzz.bank_seeds import plant_banks, plant_links
from tests.fuzz.ledger_seeds import (
    plant_entries,
    plant_openings,
    plant_revaluations,
    plant_tax_codes,
    plant_tax_returns,
)
from tests.fuzz.pools import Pools, ids
from tests.fuzz.trade_seeds import (
    plant_credits,
    plant_documents,
    plant_payments,
    plant_payouts,
    plant_purchases,
    plant_refunds,
    plant_write_offs,
)
from tests.partner import Business, Partner

CONTRACT = Path("openapi/accounting.yaml")
EXPENSES = ["5000", "5100", "6000"]


@dataclass
class Seeds:
    """The caller and the existing records.

    `pools` hold values to draw from, by name; `cursors` hold a valid cursor for every list and
    sort.
    """

    partner_id: str
    api_key: str
    business_id: str
    pools: Pools = field(default_factory=dict)
    cursors: dict[str, dict[str, str]] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write one dictionary per pool, and all seeds as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in self.pools.items():
            lines = "".join(f"{json.dumps(value)}\n" for value in values)
            (folder / f"{name}.dict").write_text(lines, "utf-8")
        (folder / "seeds.json").write_text(json.dumps(asdict(self)), "utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Seeds":
        """Read the seeds that `write` wrote."""
        return cls(**json.loads((folder / "seeds.json").read_text("utf-8")))


def plant(api_server: ApiServer, many: int = 60) -> Seeds:
    """Fill a fresh server, with `many` of each record that a run uses up."""
    partner = api_server.partner("Fuzzed")
    business = partner.business()
    seeds = Seeds(str(partner.partner_id), partner.api_key, business.id)
    customers = [business.customer(external_id=f"customer-{n}") for n in range(12)]
    pools = seeds.pools
    pools["businesses"] = [business.id]
    others = [partner.business(external_id=f"other-{n}").id for n in range(20)]
    pools["other_businesses"], pools["closing_businesses"] = others[:10], others[10:]
    pools["spare_tokens"] = [token_of(partner, each) for each in others]
    plant_sandboxes(pools, api_server, partner, many)
    pools["customers"] = ids(customers)
    pools["spare_customers"] = ids(business.customer() for _ in range(many))
    pools["customer_words"] = [f"customer-{n}" for n in range(12)]
    plant_sold(pools, business, customers, many)
    plant_purchases(pools, business, many)
    plant_payouts(pools, business, customers, many)
    plant_banks(pools, business, many)
    plant_links(pools, business, customers, many)
    plant_files(pools, business)
    plant_accounts(seeds, business, many)
    plant_found(pools, business, many)
    plant_webhooks(pools, partner, business)
    plant_rates(partner, business)
    refund_id = pools["paid_refunds"][0]
    bank = {"bank_account_id": pools["statement_accounts"][0]}
    hook = {"webhook_endpoint_id": pools["webhook_endpoints"][0]}
    told = {**hook, "refund_id": refund_id, "tax_return_id": pools["tax_returns"][0]}
    known = {"business_id": business.id, "account_id": "1200", **told, **bank}
    seeds.cursors = living_cursors(partner, **known)
    return seeds


def plant_sold(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Create invoices, some of them paid in cash, and everything that settles them."""
    plant_documents(pools, SALES, business, customers, many)
    in_cash = {"payments": [{"payment_method": "cash"}]}
    pools["invoices"] += ids(sent(business, each, 5_000, **in_cash) for each in customers[:5])
    plant_payments(pools, SALES, business, customers, many)
    plant_refunds(pools, business, customers, many)
    plant_credits(pools, SALES, business, customers, many)
    plant_write_offs(pools, SALES, business, customers, many)
    plant_openings(pools, business, customers, many)
    plant_revaluations(pools, business, customers[0], many)


def plant_found(pools: Pools, business: Business, many: int) -> None:
    """Create manual entries; put all entries and the requests of the audit trail into the pools."""
    entries = business.api.get("general-ledger/journal-entries/", params={"page_size": 50})
    plant_entries(pools, business, many)
    pools["journal_entries"] = [*ids(entries.json()["results"]), *pools["written_entries"]]
    trail = business.api.get("audit/", params={"page_size": 50}).json()["results"]
    pools["requests"] = [record["request_id"] for record in trail]


def token_of(partner: Partner, business_id: str) -> str:
    """Create a token of a business, to be revoked."""
    answer = partner.api.post(f"/v1/platform/{business_id}/oauth2/token/")
    return str(answer.json()["access_token"])


def plant_sandboxes(pools: Pools, api_server: ApiServer, partner: Partner, many: int) -> None:
    """Create sandboxes with clocks to move, and sandboxes to reset."""
    api_server.prepare_sandboxes()
    bodies = [{"external_id": f"sandbox-{n}"} for n in range(10 + many)]
    made = ids(partner.api.post("/v1/platform/sandboxes/", json=body).json() for body in bodies)
    pools["sandboxes"], pools["spare_sandboxes"] = made[:10], made[10:]


def plant_webhooks(pools: Pools, partner: Partner, business: Business) -> None:
    """Create endpoints where nobody listens, some of them to delete, and their deliveries."""
    path = "/v1/platform/webhook-endpoints/"
    pools["webhook_urls"] = ["http://127.0.0.1:1025/in", "https://hooks.example.com/in"]
    bodies = [{"url": pools["webhook_urls"][0], "business_ids": [business.id]}] * 8
    made = ids(partner.api.post(path, json=body).json() for body in bodies)
    pools["webhook_endpoints"], pools["spare_webhook_endpoints"] = made[:4], made[4:]
    first, pools["delivered_endpoints"] = f"{path}{made[0]}/", made[:1]
    partner.api.post(f"{first}replay/", json={"business_id": business.id})
    pools["webhook_deliveries"] = ids(partner.api.get(f"{first}deliveries/").json()["results"])


def plant_rates(partner: Partner, business: Business) -> None:
    """Set the exchange rates of the partner for two days, and of the business for two earlier."""
    for days in range(4):
        table_set(business if days > 1 else partner, clock.today() - timedelta(days=days))


def upload(business: Business, kind: str, link: tuple[str, str]) -> str:
    """Upload a file of a kind, linked to a record."""
    linked_type, linked_id = link
    answer = business.api.post(
        "documents/",
        files={"file": (f"paper.{kind}", files.KINDS[kind])},
        data={"linked_type": linked_type, "linked_id": linked_id},
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def plant_files(pools: Pools, business: Business) -> None:
    """Upload files of every kind, linked to records of every kind."""
    linked = {
        **{"customer": "customers", "invoice": "invoices", "customer_credit": "sent_credits"},
        **{"invoice_refund": "owed_refunds", "vendor": "vendors", "bill": "owed_bills"},
        **{"vendor_credit": "received_vendor_credits", "vendor_refund": "vendor_refunds"},
    }
    pools["documents"] = [
        upload(business, kind, (linked_type, pools[pool][0]))
        for kind in files.KINDS
        for linked_type, pool in linked.items()
    ]


def plant_accounts(seeds: Seeds, business: Business, many: int) -> None:
    """Create accounts and tax codes without postings, to be changed and archived."""
    path = "general-ledger/chart-of-accounts/"
    # A list of all accounts would begin with the many accounts of the banks.
    pages = [
        business.api.get(path, params={"account_type": kind, "page_size": "100"}).json()
        for kind in ("revenue", "expense")
    ]
    listed = [each for page in pages for each in page["results"]]
    accounts = [each for each in listed if not each["is_control_account"]]
    spare = [
        business.made(
            path,
            {
                "code": f"6{n:03}-S",
                "name": f"Spare {n}",
                "external_id": f"account-{n}",
                "account_type": "expense",
                "account_subtype": "operating_expenses",
            },
        )
        for n in range(many)
    ]
    seeds.pools |= {
        "spare_accounts": ids(spare),
        "parent_accounts": ["6000", *ids(each for each in accounts if each["code"] == "6300")],
        "account_ids": ids(each for each in accounts if each["account_type"] == "revenue"),
        "account_codes": ["4000", "4500", "4600"],
        "expense_ids": ids(each for each in accounts if each["code"] in EXPENSES),
        "expense_codes": EXPENSES,
        "account_words": ["1000", "4000", "account-1", *ids(accounts[:6])],
    }
    plant_tax_codes(seeds.pools, business, many)
    plant_tax_returns(seeds.pools, business, many)


def followed(contract: Record, node: Record) -> Record:
    """Return the parameter that a reference names, or the parameter itself."""
    shared: Record = contract["components"]["parameters"]
    return shared[node["$ref"].rpartition("/")[2]] if "$ref" in node else node


def living_cursors(partner: Partner, **ids: str) -> dict[str, dict[str, str]]:
    """Return a cursor for every list and sort, from its first page; `ids` are for paths."""
    found: dict[str, dict[str, str]] = {}
    contract = yaml.load(CONTRACT.read_text("utf-8"), yaml.CSafeLoader)
    for path, methods in contract["paths"].items():
        operation = methods.get("get", {})
        told = (followed(contract, each) for each in operation.get("parameters", ()))
        named = {each["name"]: each for each in told}
        if not {"sort", "cursor"} <= named.keys():
            continue
        sort = named["sort"]
        address = path.format(**ids)
        for order in sort["schema"]["enum"]:
            page = partner.key.get(address, params={"page_size": 1, "sort": order})
            cursors = found.setdefault(operation["operationId"], {})
            cursors[order] = page.json()["page_info"]["next_cursor"]
            if order == sort["schema"]["default"]:
                cursors[""] = cursors[order]
    return found
