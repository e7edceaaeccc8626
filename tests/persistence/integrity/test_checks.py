"""The proof of the books finds every planted fault, and nothing in correct books."""

import pytest

from accounting.books.chart import CONTROL_ROLES
from persistence.engine.database_errors import DatabaseAway
from persistence.integrity import control_accounts
from persistence.integrity.checks import CHECKS
from persistence.integrity.event_checks import TABLES_WITH_EVENTS
from persistence.integrity.ledger_checks import SOURCES
from tests.api_server import ApiServer
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import faults_in, tamper
from tests.persistence.integrity.fault import changed_tables, moved_tables
from tests.persistence.integrity.faults import PLANTED
from tests.persistence.integrity.traded_business import traded

NAMES = {*CHECKS, "posted_as_desired"}


@pytest.fixture(scope="module")
def bakery(own_server: ApiServer, partner: Partner) -> Business:
    """A business with too few entries for a roll-up: faulty lines are in the journal alone."""
    return traded(partner.business())


class TestProve:
    def test_real_activity_is_proven_by_every_check(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        own_server.query("SELECT seal_audit_trail(%s)", shop.id)
        checks = own_server.prover.checks_of(shop.id)
        assert {check.name for check in checks} == NAMES
        assert [check for check in checks if not check.ok] == []
        assert all(check.checked > 0 for check in checks)

    def test_an_empty_business_is_proven(self, own_server: ApiServer, partner: Partner) -> None:
        assert faults_in(own_server, partner.business()) == set()

    def test_an_archived_business_of_a_disabled_partner_is_proven(
        self, own_server: ApiServer
    ) -> None:
        owner = own_server.partner("Gone")
        shop = traded(owner.business())
        assert owner.api.post(f"/v1/platform/businesses/{shop.id}/archive/").status_code == 200
        tamper(own_server, "UPDATE partner SET disabled_at = now() WHERE id = %s", owner.partner_id)
        assert faults_in(own_server, shop) == set()

    def test_a_fault_stays_in_its_own_business(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        spoilt, sound = traded(partner.business()), traded(partner.business())
        statement = "UPDATE invoice SET paid = paid + 1 WHERE business_id = %s AND external_id = %s"
        tamper(own_server, statement, spoilt.id, "partly")
        assert faults_in(own_server, spoilt) >= {"invoice_settlement"}
        assert faults_in(own_server, sound) == set()

    def test_a_proof_that_is_cut_off_is_neither_green_nor_red(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        def cut_off(_: float) -> None:
            own_server.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND state = 'idle in transaction'"
            )

        with pytest.raises(DatabaseAway, match=shop.id):
            own_server.prover.checks_of(shop.id, cut_off)

    def test_every_business_of_every_partner_is_listed(self, own_server: ApiServer) -> None:
        [[businesses]] = own_server.query("SELECT count(*) FROM business")
        assert len(own_server.prover.books()) == businesses


# The days beside moments, which rows of servers before time zones do not have.
STORED_DAYS = (
    *("invoice SET voided_on", "bill SET voided_on"),
    *("customer_credit SET voided_on", "vendor_credit SET voided_on"),
    *("write_off SET written_off_on", "bill_write_off SET written_off_on"),
    *("write_off SET reversed_on", "bill_write_off SET reversed_on"),
    *("invoice_refund SET cancelled_on", "vendor_refund SET cancelled_on"),
    *("invoice_refund_payment SET completed_on", "payout SET completed_on"),
)
OPENED_ON = ("customer_credit SET opened_on", "vendor_credit SET opened_on")


class TestBooksFromBefore:
    def test_their_days_are_in_utc_in_any_time_zone(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        shop = traded(partner.business())
        paths = ("invoices/", "bills/", "customer-credits/", "vendor-credits/", "payouts/")
        before = [shop.api.get(path, params={"page_size": 100}).json() for path in paths]
        for column in STORED_DAYS:
            tamper(own_server, f"UPDATE {column} = NULL WHERE business_id = %s", shop.id)
        for column in OPENED_ON:
            chosen = "business_id = %s AND opening_id IS NULL"
            tamper(own_server, f"UPDATE {column} = NULL WHERE {chosen}", shop.id)
        assert [shop.api.get(path, params={"page_size": 100}).json() for path in paths] == before
        for timezone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
            path = f"/v1/platform/businesses/{shop.id}/"
            assert partner.api.patch(path, json={"timezone": timezone}).is_success
            assert faults_in(own_server, shop) == {"audit_rows"}


class TestPlantedFault:
    @pytest.mark.parametrize("fault", PLANTED)
    def test_a_planted_fault_is_found_by_the_checks_that_it_concerns(
        self, own_server: ApiServer, shop: Business, fault: str
    ) -> None:
        statement, named = PLANTED[fault]
        tamper(own_server, statement.replace("%(b)s", f"'{shop.id}'"))
        audited = own_server.query("SELECT name FROM audited_table")
        past_the_trail = changed_tables(statement) & {name for (name,) in audited}
        past_the_feed = moved_tables(statement) & set(TABLES_WITH_EVENTS)
        assert faults_in(own_server, shop) == {
            *named,
            *({"audit_rows"} if past_the_trail else ()),
            *({"event_records"} if past_the_feed else ()),
        }

    @pytest.mark.parametrize("source", SOURCES)
    def test_a_planted_fault_is_found_in_the_entries_of_each_kind_of_document(
        self, own_server: ApiServer, shop: Business, source: str
    ) -> None:
        statement = "UPDATE journal_entry SET stream = 'other' WHERE business_id = %s"
        tamper(own_server, f"{statement} AND source_type = %s", shop.id, source)
        # Only one stream of a credit counts on cash, and no claims of a revaluation do.
        in_part = source.endswith("_credit") or source == "revaluation"
        on_cash = {"cash_lines"} if in_part else set()
        assert faults_in(own_server, shop) == {"posted_as_desired", "audit_rows", *on_cash}

    def test_a_planted_fault_is_reported_with_its_first_offender(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        tamper(
            own_server,
            "DELETE FROM journal_entry WHERE business_id = %s AND sequence_number = %s",
            shop.id,
            "JE-2025-000004",
        )
        found = {check.name: check for check in own_server.prover.checks_of(shop.id)}
        assert found["entry_numbers"].first_offender == "JE-2025-000004"
        assert found["invoice_numbers"].ok

    def test_a_changed_text_and_a_changed_answer_are_reported_with_their_names(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        tamper(
            own_server,
            "UPDATE journal_line SET description = overlay(description PLACING 'b' FROM 1 FOR 1)"
            " WHERE business_id = %s AND description = 'Rent, März' AND debit > 0",
            shop.id,
        )
        tamper(
            own_server,
            "UPDATE reply SET body = set_byte(body, 9, get_byte(body, 9) # 1)"
            " WHERE business_id = %s",
            shop.id,
        )
        [(number,)] = own_server.query(
            "SELECT sequence_number FROM journal_entry"
            " WHERE business_id = %s AND source_type = 'manual' AND total = 1500"
            " AND reversal_of_id IS NULL",
            shop.id,
        )
        found = {check.name: check.first_offender for check in own_server.prover.faults_of(shop.id)}
        assert found == {
            "entry_lines": number,
            "stored_answers": "the answer to create_customer with key once",
        }

    def test_an_answer_from_before_has_no_digest_and_is_right(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        tamper(own_server, "UPDATE reply SET digest = NULL WHERE business_id = %s", shop.id)
        assert faults_in(own_server, shop) == set()

    def test_every_check_is_proven_to_find_something(self) -> None:
        assert set().union(*(named for _, named in PLANTED.values())) == NAMES

    def test_every_control_account_is_proven_by_its_documents(self) -> None:
        texts = " ".join(control_accounts.CHECKS.values())
        assert [role for role in CONTROL_ROLES if f"a.role = '{role}'" not in texts] == []
