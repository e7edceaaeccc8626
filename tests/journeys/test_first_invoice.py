"""The main story, as a partner lives it: from an API key to the double entry behind a payment."""

from typing import Any

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import paid, sent
from tests.clock import today
from tests.partner import Business, Partner, client

Record = dict[str, Any]


def told(answer: Any, status: int) -> Record:
    assert answer.status_code == status, answer.text
    body: Record = answer.json()
    return body


class TestFirstInvoice:
    def test_a_partner_invoices_is_paid_and_sees_the_double_entry(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        platform = f"{api_server.url}/v1/platform"
        with client(platform, auth=(str(acme.partner_id), acme.api_key)) as by_key:
            token = told(
                by_key.post("/oauth2/token/", data={"grant_type": "client_credentials"}), 200
            )
        with client(
            platform, headers={"Authorization": f"Bearer {token['access_token']}"}
        ) as partner:
            opened = told(
                partner.post(
                    "/businesses/",
                    json={
                        "external_id": "first-journey",
                        "legal_name": "Harbour Coffee Ltd",
                        "entity_type": "limited",
                        "email": "books@harbour.example.com",
                        "country": "GB",
                    },
                ),
                201,
            )
            exchanged = told(partner.post(f"/{opened['id']}/oauth2/token/"), 200)
        with client(
            f"{platform}/businesses/{opened['id']}",
            headers={"Authorization": f"Bearer {exchanged['access_token']}"},
        ) as shop:
            customer = told(
                shop.post("/customers/", json={"company_name": "Blue Door Bakery"}), 201
            )
            invoice = told(
                shop.post(
                    "/invoices/",
                    json={
                        "customer_id": customer["id"],
                        "sent_at": "2025-07-01T09:00:00Z",
                        "line_items": [
                            {
                                "description": "House blend, 1 kg",
                                "quantity": 12,
                                "unit_price": 1_450,
                                "tax_rate": 20,
                            }
                        ],
                    },
                ),
                201,
            )
            assert (invoice["invoice_number"], invoice["total_amount"]) == ("INV-000001", 20_880)
            payment = told(
                shop.post(
                    "/invoices/payments/",
                    json={
                        "customer_id": customer["id"],
                        "total_amount_cents": 20_880,
                        "payment_date": "2025-07-10",
                        "currency": "GBP",
                        "payment_method": "bank_transfer",
                        "allocations": [{"invoice_id": invoice["id"], "amount_cents": 20_880}],
                    },
                ),
                201,
            )["payment"]
            assert payment["applied_invoices"][0]["status"] == "paid"
            listed = told(
                shop.get("/general-ledger/journal-entries/", params={"sort": "sequence_number"}),
                200,
            )
            entries = [
                told(shop.get(f"/general-ledger/journal-entries/{each['id']}/"), 200)
                for each in listed["results"]
            ]
            assert [
                (each["sequence_number"], each["entry_date"], each["source_id"]) for each in entries
            ] == [
                ("JE-2025-000001", "2025-07-01", invoice["id"]),
                ("JE-2025-000002", "2025-07-10", payment["id"]),
            ]
            assert [
                [
                    (line["account_code"], line["debit_amount"], line["credit_amount"])
                    for line in lines
                ]
                for lines in (each["lines"] for each in entries)
            ] == [
                [("1200", 20_880, 0), ("4000", 0, 17_400), ("2200", 0, 3_480)],
                [("1100", 20_880, 0), ("1200", 0, 20_880)],
            ]
            accounts = told(
                shop.get(
                    "/general-ledger/chart-of-accounts/",
                    params={"include_zero_balance": False, "page_size": 100},
                ),
                200,
            )
            assert {each["code"]: each["current_balance"] for each in accounts["results"]} == {
                "1100": 20_880,
                "2200": 3_480,
                "4000": 17_400,
            }
        Ledger(api_server, Business(acme, opened)).audit()


class TestMoneyInAdvance:
    def test_it_waits_is_applied_bounces_and_comes_again(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        shop = acme.business()
        ledger, now = Ledger(api_server, shop), str(today())
        customer = shop.customer()
        payment = paid(
            shop,
            customer,
            10_000,
            payment_date="2025-02-01",
            payment_method="stripe",
            processing_fee_cents=170,
        )
        path = f"invoices/payments/{payment['id']}/"
        assert payment["unapplied_amount_cents"] == 10_000
        assert ledger.balances() == {"1150": 9_830, "6100": 170, "2100": -10_000}

        invoice = sent(shop, customer, 8_000, sent_at="2025-02-20T10:00:00Z")
        held = {"allocations": [{"invoice_id": invoice["id"], "amount_cents": 8_000}]}
        applied = told(shop.api.patch(path, json=held), 200)["payment"]
        assert (applied["applied_amount_cents"], applied["remaining_amount_cents"]) == (
            8_000,
            2_000,
        )
        assert applied["allocations"][0]["allocation_date"] == now
        assert told(shop.api.get(f"invoices/{invoice['id']}/"), 200)["status"] == "paid"
        assert ledger.balances()["2100"] == -2_000
        refused = told(shop.api.post(f"{path}delete/"), 409)
        assert refused["error_code"] == "invalid_state_transition"

        bounced = told(shop.api.patch(path, json={"status": "failed"}), 200)["payment"]
        assert bounced["allocations"] == []
        owed = told(shop.api.get(f"invoices/{invoice['id']}/"), 200)
        assert (owed["status"], owed["outstanding_balance"], owed["paid_at"]) == (
            "sent",
            8_000,
            None,
        )
        assert ledger.balances() == {"1200": 8_000, "4000": -8_000}
        assert told(shop.api.get(f"customers/{customer['id']}/"), 200)["outstanding_balance"] == (
            8_000
        )

        again = paid(
            shop,
            customer,
            8_000,
            payment_date="2025-03-03",
            allocations=[{"invoice_id": invoice["id"], "amount_cents": 8_000}],
        )
        assert again["is_fully_allocated"] is True
        settled = told(shop.api.get(f"invoices/{invoice['id']}/"), 200)
        assert (settled["status"], settled["paid_at"]) == ("paid", "2025-03-03T00:00:00Z")
        assert [each["payment_id"] for each in settled["payment_allocations"]] == [again["id"]]
        assert ledger.balances() == {"1100": 8_000, "4000": -8_000}
        assert ledger.postings(payment) == [
            ("2025-02-01", {"1150": 10_000, "2100": -10_000}),
            ("2025-02-01", {"6100": 170, "1150": -170}),
            (now, {"2100": 8_000, "1200": -8_000}),
            (now, {"1150": -10_000, "2100": 2_000, "1200": 8_000}),
            (now, {"6100": -170, "1150": 170}),
        ]
        ledger.audit()
