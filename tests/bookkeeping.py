"""The books of a business in the database, read without row security."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from persistence import tables
from tests.api_server import ApiServer
from tests.partner import Business
from tests.persistence.integrity.book_faults import faults_in

KEPT = tuple(
    table.name
    for table in tables.metadata.sorted_tables
    if table.info.get("tenant") and table.name != "reply"
)
_DIGEST = " UNION ALL ".join(
    f"SELECT '{name}', md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), ''))"
    f" FROM {name} t WHERE business_id = %(business)s"
    for name in KEPT
)
_ENTRIES = """
SELECT e.id::text, e.sequence_number, e.entry_date::text, e.source_type, e.reference,
       e.description, e.reversal_of_id::text,
       array_agg(a.code ORDER BY l.line_number),
       array_agg(l.debit - l.credit ORDER BY l.line_number)
FROM journal_entry e
JOIN journal_line l ON l.business_id = e.business_id AND l.entry_id = e.id
JOIN account a ON a.business_id = l.business_id AND a.id = l.account_id
WHERE e.business_id = %(business)s
  AND (%(source)s::uuid IS NULL OR e.source_id = %(source)s::uuid)
GROUP BY e.business_id, e.id ORDER BY e.created_at, e.id
"""


@dataclass(frozen=True)
class Entry:
    """A posted entry; `lines` holds its signed amounts by account code, debits above zero."""

    id: str
    number: str
    on: str
    source_type: str
    reference: str | None
    description: str
    reversal_of: str | None
    lines: tuple[tuple[str, int], ...]

    @property
    def amounts(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for code, amount in self.lines:
            total[code] += amount
        return dict(total)


class Ledger:
    """The books of a business in the database of a server."""

    def __init__(self, api_server: ApiServer, business: Business) -> None:
        self.api_server = api_server
        self.business = business

    def ask(self, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
        given = {"business": self.business.id, **parameters}
        return self.api_server.watcher.execute(text, given).fetchall()

    def entries(self, source: dict[str, Any] | None = None) -> list[Entry]:
        rows = self.ask(_ENTRIES, source=source["id"] if source else None)
        return [Entry(*row[:7], tuple(zip(row[7], row[8], strict=True))) for row in rows]

    def postings(self, source: dict[str, Any]) -> list[tuple[str, dict[str, int]]]:
        """Return the day and the amounts of each entry of a document, in posting order."""
        return [(entry.on, entry.amounts) for entry in self.entries(source)]

    def balances(self) -> dict[str, int]:
        """Return the debits less the credits of every account with a balance."""
        total: Counter[str] = Counter()
        for entry in self.entries():
            total.update(entry.amounts)
        return {code: amount for code, amount in total.items() if amount}

    def digest(self) -> dict[str, str]:
        """Return a digest of every table of the business."""
        return dict(self.ask(_DIGEST))

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Check that a block changes no row."""
        before = self.digest()
        yield
        assert self.digest() == before

    @contextmanager
    def moving(self) -> Iterator[dict[str, int]]:
        """Yield a dictionary that after the block has the change of each account."""
        before, moved = self.balances(), {}
        yield moved
        after = self.balances()
        for code in {*before, *after}:
            if after.get(code, 0) != before.get(code, 0):
                moved[code] = after.get(code, 0) - before.get(code, 0)

    def refused(self, method: str, path: str, **options: Any) -> tuple[int, str]:
        """Send a request that is refused and changes no row; return its status and code."""
        with self.untouched():
            answer = self.business.api.request(method, path, **options)
        assert answer.status_code >= 400, answer.text
        return answer.status_code, answer.json()["error_code"]

    def lock(self, until: str | None) -> None:
        """Set the lock date as the partner does."""
        path = f"/v1/platform/businesses/{self.business.id}/"
        answer = self.business.partner.api.patch(path, json={"lock_date": until})
        assert answer.status_code == 200, answer.text

    @contextmanager
    def locked(self, until: str) -> Iterator[None]:
        """Lock a period during a block."""
        self.lock(until)
        try:
            yield
        finally:
            self.lock(None)

    def audit(self) -> None:
        """Check the books: balance, control accounts, allocations, numbers."""
        for question, text in PROOFS.items():
            assert self.ask(text) == [], question
        assert sum(self.balances().values()) == 0
        balances = dict(self.ask(OWN_BALANCES))
        for code, said in CONTROLLED.items():
            [(amount,)] = self.ask(said)
            assert balances.get(code, 0) == amount, code
        assert faults_in(self.api_server, self.business) == set()


CONTROLLED = {
    "1200": """
        SELECT coalesce(sum(outstanding), 0)::bigint FROM invoice
        WHERE business_id = %(business)s AND state = 'open'""",
    "2100": """
        SELECT coalesce(sum(CASE status WHEN 'completed' THEN allocated - total ELSE refunded END),
                        0)::bigint
        FROM invoice_payment WHERE business_id = %(business)s""",
    "2250": """
        SELECT coalesce(sum(applied + refunded - total_amount), 0)::bigint FROM customer_credit
        WHERE business_id = %(business)s AND state = 'open'""",
    "2300": """
        SELECT coalesce(sum(paid - amount), 0)::bigint FROM invoice_refund
        WHERE business_id = %(business)s AND cancelled_at IS NULL""",
    "2000": """
        SELECT coalesce(-sum(outstanding), 0)::bigint FROM bill
        WHERE business_id = %(business)s AND state = 'open'""",
    "1250": """
        SELECT coalesce(sum(CASE status WHEN 'completed' THEN total - allocated ELSE -refunded END),
                        0)::bigint
        FROM bill_payment WHERE business_id = %(business)s""",
    "1260": """
        SELECT coalesce(sum(total_amount - applied - refunded), 0)::bigint FROM vendor_credit
        WHERE business_id = %(business)s AND state = 'open'""",
    "1270": """
        SELECT coalesce(sum(amount), 0)::bigint FROM (
          SELECT amount - paid AS amount FROM vendor_refund
          WHERE business_id = %(business)s AND cancelled_at IS NULL
          UNION ALL
          SELECT -amount FROM vendor_refund_allocation
          WHERE business_id = %(business)s AND end_on IS NULL AND credit_id IS NOT NULL) owed""",
}
"""The balance of each control account by its documents, debits above zero.

All currencies are added up; the integrity checks compare each by itself, and in base.
"""


OWN = "coalesce(l.currency_amount, l.debit - l.credit)"
"""The amount of a line in its own currency, a debit above zero."""


def _proofs(noun: str, credit: str, refund: str, control: str, sign: int) -> dict[str, str]:
    """Return the queries for violations on one side; lines have the signs of the side."""
    settles = "coalesce(a.document_amount, a.amount)"
    write_off = "write_off" if noun == "invoice" else "bill_write_off"
    written_off = f"""
          UNION ALL SELECT document_id, 0, amount, 0 FROM {write_off}
          WHERE business_id = %(business)s AND reversed_at IS NULL"""
    return {
        f"{noun}s: nobody settles more than the total, and what is stored is allocated": f"""
        SELECT i.id FROM {noun} i LEFT JOIN {noun}_allocation a
          ON a.business_id = i.business_id AND a.document_id = i.id AND a.end_on IS NULL
        LEFT JOIN {noun}_payment p ON p.business_id = a.business_id AND p.id = a.payment_id
        WHERE i.business_id = %(business)s GROUP BY i.business_id, i.id
        HAVING i.paid + i.reserved + i.credited + i.written_off > i.total_amount
          OR i.paid <> coalesce(sum({settles}) FILTER (WHERE p.status = 'completed'), 0)
          OR i.reserved <> coalesce(sum({settles})
                             FILTER (WHERE p.status IN ('pending', 'processing')), 0)""",
        f"{noun}s: no payment holds more than it has, and none that is not live anything": f"""
        SELECT p.id FROM {noun}_payment p LEFT JOIN {noun}_allocation a
          ON a.business_id = p.business_id AND a.payment_id = p.id AND a.end_on IS NULL
        WHERE p.business_id = %(business)s GROUP BY p.business_id, p.id
        HAVING p.allocated <> coalesce(sum(a.amount), 0) + p.refunded OR p.allocated > p.total
          OR p.applied <> CASE p.status WHEN 'completed' THEN p.allocated - p.refunded ELSE 0 END
          OR (p.status IN ('failed', 'cancelled', 'refunded') AND p.allocated <> p.refunded)""",
        f"{noun}s: each stands on the control account with its total while it is open": f"""
        SELECT i.id FROM {noun} i LEFT JOIN (
          SELECT e.source_id, sum({OWN}) AS amount FROM journal_entry e
          JOIN journal_line l ON l.business_id = e.business_id AND l.entry_id = e.id
          JOIN account a ON a.business_id = l.business_id AND a.id = l.account_id
          WHERE e.business_id = %(business)s AND a.role = '{control}'
          GROUP BY e.source_id) posted ON posted.source_id = i.id
        WHERE i.business_id = %(business)s AND {sign} * coalesce(posted.amount, 0)
          <> CASE i.state WHEN 'open' THEN i.total_amount ELSE 0 END""",
        f"{noun}s: the lines that settle one come to what is paid, credited and written off": f"""
        SELECT i.id FROM {noun} i LEFT JOIN journal_line l
          ON l.business_id = i.business_id AND l.settles_id = i.id
        WHERE i.business_id = %(business)s GROUP BY i.business_id, i.id
        HAVING -({sign}) * coalesce(sum({OWN}), 0)
          <> i.paid + i.credited + i.written_off""",
        f"{noun}s: what is credited, written off and refunded is what lives": f"""
        SELECT i.id FROM {noun} i LEFT JOIN (
          SELECT document_id, amount AS credited, 0 AS written_off, 0 AS refunded
          FROM {credit}_allocation
          WHERE business_id = %(business)s AND end_on IS NULL
          {written_off}
          UNION ALL SELECT document_id, 0, 0, amount FROM {refund}_allocation
          WHERE business_id = %(business)s AND end_on IS NULL) live ON live.document_id = i.id
        WHERE i.business_id = %(business)s GROUP BY i.business_id, i.id
        HAVING i.credited <> coalesce(sum(live.credited), 0)
          OR i.written_off <> coalesce(sum(live.written_off), 0)
          OR i.refunded <> coalesce(sum(live.refunded), 0)""",
        f"{noun}s: the lines that settle a credit or refund come to what is used of it": f"""
        SELECT held.id FROM (
          SELECT id, applied + refunded AS used FROM {credit} WHERE business_id = %(business)s
          UNION ALL
          SELECT id, paid FROM {refund} WHERE business_id = %(business)s) held
        LEFT JOIN journal_line l ON l.business_id = %(business)s AND l.settles_id = held.id
        GROUP BY held.id, held.used
        HAVING {sign} * coalesce(sum({OWN}), 0) <> held.used""",
    }


OWN_BALANCES = f"""
SELECT a.code, sum({OWN})::bigint FROM journal_line l
JOIN account a ON a.business_id = l.business_id AND a.id = l.account_id
WHERE l.business_id = %(business)s GROUP BY a.code"""
PROOFS = {
    "every entry balances and comes to its total": """
        SELECT e.id FROM journal_entry e LEFT JOIN journal_line l
          ON l.business_id = e.business_id AND l.entry_id = e.id
        WHERE e.business_id = %(business)s GROUP BY e.business_id, e.id
        HAVING coalesce(sum(l.debit), 0) <> e.total OR coalesce(sum(l.credit), 0) <> e.total""",
    **_proofs("invoice", "customer_credit", "invoice_refund", "accounts_receivable", 1),
    **_proofs("bill", "vendor_credit", "vendor_refund", "accounts_payable", -1),
    "a refund comes to what it gives back, until it is cancelled": """
        SELECT r.id FROM invoice_refund r LEFT JOIN invoice_refund_allocation a
          ON a.business_id = r.business_id AND a.refund_id = r.id AND a.end_on IS NULL
        WHERE r.business_id = %(business)s GROUP BY r.business_id, r.id
        HAVING coalesce(sum(a.amount), 0) <> CASE WHEN r.cancelled_at IS NULL THEN r.amount ELSE 0
                                             END OR (r.cancelled_at IS NOT NULL AND r.paid > 0)""",
    "what is not allocated yet of vendor refunds waits on suspense": """
        SELECT waiting.amount FROM (
          SELECT coalesce(sum(amount), 0) AS amount FROM (
            SELECT amount FROM vendor_refund
            WHERE business_id = %(business)s AND cancelled_at IS NULL
            UNION ALL
            SELECT -amount FROM vendor_refund_allocation
            WHERE business_id = %(business)s AND end_on IS NULL
            UNION ALL
            SELECT (part->>1)::bigint
            FROM vendor_refund_allocation r, jsonb_array_elements(r.split) AS part, account a
            WHERE r.business_id = %(business)s AND r.end_on IS NULL
              AND a.business_id = %(business)s AND a.role = 'suspense'
              AND a.id::text = part->>0) each) waiting, (
          SELECT coalesce(sum(l.credit - l.debit), 0) AS amount FROM journal_entry e
          JOIN journal_line l ON l.business_id = e.business_id AND l.entry_id = e.id
          JOIN account a ON a.business_id = l.business_id AND a.id = l.account_id
          WHERE e.business_id = %(business)s AND e.source_type = 'vendor_refund'
            AND a.role = 'suspense') posted
        WHERE waiting.amount <> posted.amount""",
    "a vendor refund gives back as much as it is, or less, and nothing once it is cancelled": """
        SELECT r.id FROM vendor_refund r LEFT JOIN vendor_refund_allocation a
          ON a.business_id = r.business_id AND a.refund_id = r.id AND a.end_on IS NULL
        WHERE r.business_id = %(business)s GROUP BY r.business_id, r.id
        HAVING coalesce(sum(a.amount), 0) > CASE WHEN r.cancelled_at IS NULL THEN r.amount ELSE 0
                                            END OR (r.cancelled_at IS NOT NULL AND r.paid > 0)""",
    "entries are numbered without a gap in each year": """
        SELECT left(e.sequence_number, 7) FROM journal_entry e
        LEFT JOIN number_series s
          ON s.business_id = e.business_id AND s.series = left(e.sequence_number, 7)
        WHERE e.business_id = %(business)s GROUP BY 1, s.last
        HAVING max(substr(e.sequence_number, 9)::bigint) <> count(*) OR s.last <> count(*)
          OR bool_or(left(e.sequence_number, 7) <> 'JE-' || extract(year FROM e.entry_date)::text)
        """,
}
