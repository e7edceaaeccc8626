"""Integrity checks of invoices, bills and write-offs: totals, dates and settlements."""

from accounting.books.ledger import TaxPart
from persistence.integrity.definitions import (
    BOTH,
    SideTables,
    bases,
    behind_series,
    by_part,
    net_of,
    part_of,
    shares,
    sum_of,
)

# The amounts that a credit line takes from its source line, in the order of that line's amounts.
_TAKEN_OF_SOURCE = """jsonb_build_array(item->'amount')
        || (SELECT coalesce(jsonb_agg(tax->0 ORDER BY place), '[]')
            FROM jsonb_array_elements(item->'taxes') WITH ORDINALITY AS each (tax, place))
        || (SELECT coalesce(jsonb_agg(-(tax->>0)::bigint ORDER BY kind, place), '[]')
            FROM (VALUES (1, item->'withheld'), (2, item->'self_assessed')) AS kinds (kind, taxes),
                 jsonb_array_elements(taxes) WITH ORDINALITY AS each (tax, place))"""
_NAME = "coalesce(t.number, t.id::text)"


def _document_totals(tables: SideTables) -> str:
    return f"""
SELECT coalesce(d.number, d.id::text) AS name,
       d.subtotal = line.subtotal AND d.tax_total = line.tax
       AND d.additional_discount = line.share
       AND (d.amounts_include_tax OR d.discount_total = line.discount + d.additional_discount)
       AND d.total_amount = d.subtotal - d.additional_discount + d.tax_total - line.withheld
         AS holds
FROM {tables.document} d, LATERAL (
  SELECT coalesce(sum((item->>'subtotal')::bigint), 0) AS subtotal,
         coalesce(sum((item->>'discount_amount')::bigint), 0) AS discount,
         coalesce(sum((item->>'discount_share')::bigint), 0) AS share,
         coalesce(sum((
           SELECT sum((tax->>0)::bigint) FROM jsonb_array_elements(item->'taxes') AS tax
         )), 0) AS tax,
         coalesce(sum((
           SELECT sum((tax->>0)::bigint) FROM jsonb_array_elements(item->'withheld') AS tax
         )), 0) AS withheld
  FROM jsonb_array_elements(d.lines) AS item
) AS line
WHERE d.business_id = %(business_id)s"""


_ALWAYS_IN_UTC = """(SELECT b.timezone = 'UTC' AND NOT EXISTS (
         SELECT FROM audit_record r
         WHERE r.business_id = %(business_id)s AND r.object_id = %(business_id)s
           AND r.changes #>> '{timezone,from}' IS NOT NULL
       ) FROM business b WHERE b.id = %(business_id)s)"""
# A day begins up to 14 hours earlier than in UTC, and up to 12 hours later.
_SOMEWHERE = """d.opened_at >= d.opened_on::timestamp AT TIME ZONE 'UTC' - interval '14 hours'
         AND d.opened_at < d.opened_on::timestamp AT TIME ZONE 'UTC' + interval '36 hours'"""


def _days(tables: SideTables) -> str:
    """Check the day from which a document is in the books.

    It is the issue date, if there is one, and otherwise the day when the document was opened, in
    the time zone that the business had then: UTC if it never had another one, else any. An older
    invoice, which is not `dated_by_issue`, has the day when it was opened. A document of an opening
    has the day of the opening.
    """
    in_utc = "(d.opened_at AT TIME ZONE 'UTC')::date"
    anywhere = f"WHEN {_SOMEWHERE} THEN d.opened_on"
    opened = f"CASE WHEN {_ALWAYS_IN_UTC} THEN {in_utc} {anywhere} END"
    on = f"CASE WHEN d.dated_by_issue THEN coalesce(d.issue_date, {opened}) ELSE {opened} END"
    return f"""
SELECT coalesce(d.number, d.id::text) AS name,
       CASE WHEN d.opened_at IS NULL THEN d.opened_on IS NULL
            ELSE d.opened_on IS NOT DISTINCT FROM coalesce(o.opened_on, {on}) END AS holds
FROM {tables.document} d
LEFT JOIN opening_balance o ON o.business_id = %(business_id)s AND o.id = d.opening_id
WHERE d.business_id = %(business_id)s"""


def _settlement(tables: SideTables) -> str:
    """Compare the settled amounts of a document with its live allocations.

    These are the amounts paid, reserved, credited, written off and refunded.
    """
    return f"""
SELECT coalesce(d.number, d.id::text) AS name,
       d.paid = coalesce(live.paid, 0) AND d.reserved = coalesce(live.reserved, 0)
       AND d.credited = coalesce(live.credited, 0)
       AND d.written_off = coalesce(live.written_off, 0)
       AND d.refunded = coalesce(live.refunded, 0)
       AND (d.paid_on IS NOT NULL) = (d.state = 'open' AND d.outstanding = 0) AS holds
FROM {tables.document} d
LEFT JOIN (
  SELECT document_id,
         sum(amount) FILTER (WHERE by = 'completed') AS paid,
         sum(amount) FILTER (WHERE by IN ('pending', 'processing')) AS reserved,
         sum(amount) FILTER (WHERE by = 'credit') AS credited,
         sum(amount) FILTER (WHERE by = 'write_off') AS written_off,
         sum(amount) FILTER (WHERE by = 'refund') AS refunded
  FROM (
    SELECT a.document_id, p.status AS by, coalesce(a.document_amount, a.amount) AS amount
    FROM {tables.allocation} a
    JOIN {tables.payment} p ON p.business_id = %(business_id)s AND p.id = a.payment_id
    WHERE a.business_id = %(business_id)s AND a.end_on IS NULL
    UNION ALL
    SELECT document_id, 'credit', amount FROM {tables.credit_allocation}
    WHERE business_id = %(business_id)s AND end_on IS NULL
    UNION ALL
    SELECT document_id, 'refund', amount FROM {tables.refund_allocation}
    WHERE business_id = %(business_id)s AND end_on IS NULL AND document_id IS NOT NULL
    UNION ALL
    SELECT document_id, 'write_off', amount FROM {tables.write_off}
    WHERE business_id = %(business_id)s AND reversed_at IS NULL
  ) AS each GROUP BY document_id
) AS live ON live.document_id = d.id
WHERE d.business_id = %(business_id)s"""


def _nets(tables: SideTables, account_id: str = "item->>'account_id'") -> str:
    """Return SQL for the nets of lines by part; a refund may use another account for them."""
    part = net_of("item").replace("item->>'account_id'", account_id)
    return f"""
      SELECT id, {part} AS part,
             (item->>'subtotal')::bigint - (item->>'discount_share')::bigint AS amount
      FROM {tables.document}, jsonb_array_elements(lines) AS item
      WHERE business_id = %(business_id)s"""


def _taxes(tables: SideTables, account_id: str = "tax->>1") -> str:
    part = part_of("tax", 1).replace("tax->>1", account_id)
    return f"""
      SELECT id, {part} AS part, sign * (tax->>0)::bigint AS amount
      FROM {tables.document}, jsonb_array_elements(lines) AS item,
           (VALUES ('taxes', 1), ('withheld', -1)) AS kind (name, sign),
           jsonb_array_elements(item->kind.name) AS tax
      WHERE business_id = %(business_id)s"""


def _parts_settled(tables: SideTables) -> str:
    """Compare, per part, settled amounts with live payments, credits and write-offs.

    In a document of an opening, the taxes are on equity, but for those that are not recovered.
    """
    stands = (
        f"CASE WHEN opening_id IS NULL OR tax->>4 = '{TaxPart.BLOCKED}' THEN tax->>1"
        " ELSE coalesce(item->>'opened_against', item->>'account_id') END"
    )
    taken = [
        shares(tables.allocation, "document_id", "split", "end_on IS NULL"),
        shares(tables.credit_allocation, "document_id", "split", "end_on IS NULL"),
        shares(tables.write_off, "document_id", "split", "reversed_at IS NULL"),
    ]
    return by_part(
        tables.document,
        _NAME,
        kept="settled",
        sums_to="t.paid + t.credited + t.written_off",
        parts=f"{_nets(tables)} UNION ALL {_taxes(tables, stands)}",
        taken=" UNION ALL ".join(taken),
    )


def _parts_returned(tables: SideTables) -> str:
    """Compare, per part, refunded amounts with live refunds.

    Nets are refunded on the side's refund account if it has one, and otherwise on the accounts of
    the lines; taxes on their own accounts.
    """
    nets, live = _nets(tables), "end_on IS NULL AND document_id IS NOT NULL"
    if tables.side.refund_net is not None:
        nets = _nets(
            tables,
            "(SELECT a.id::text FROM account a WHERE a.business_id = %(business_id)s"
            f" AND a.role = '{tables.side.refund_net}')",
        )
    return by_part(
        tables.document,
        _NAME,
        kept="returned",
        sums_to="t.refunded",
        parts=f"{nets} UNION ALL {_taxes(tables)}",
        taken=shares(tables.refund_allocation, "document_id", "split", live),
    )


def _lines_reduced(tables: SideTables) -> str:
    """Compare, per line, reductions with open credits, live refunds and live write-offs.

    Refunds from before amounts were recorded by line have none.
    """
    taken = f"""
      SELECT document_id AS id, line, 1 AS sign FROM {tables.refund_allocation} AS t,
             jsonb_array_elements(t.lines) AS line
      WHERE t.business_id = %(business_id)s AND t.end_on IS NULL AND t.document_id IS NOT NULL
      UNION ALL
      SELECT source_document_id, jsonb_build_array(item->'source_line_id', {_TAKEN_OF_SOURCE}), 1
      FROM {tables.credit} AS t, jsonb_array_elements(t.lines) AS item
      WHERE t.business_id = %(business_id)s AND t.state = 'open'
        AND item->>'source_line_id' IS NOT NULL
      UNION ALL
      SELECT document_id, line, 1 FROM {tables.write_off} AS t,
             jsonb_array_elements(t.lines) AS line
      WHERE t.business_id = %(business_id)s AND t.reversed_at IS NULL"""
    return f"""
SELECT {_NAME} AS name, coalesce(kept.holds, true) AS holds
FROM {tables.document} t
LEFT JOIN (
  SELECT id, bool_and(amount = 0) AS holds
  FROM (
    SELECT id, line->>0 AS line_id, place, sum(sign * amount::bigint) AS amount
    FROM ({taken}
      UNION ALL
      SELECT t.id, line, -1 FROM {tables.document} AS t, jsonb_array_elements(t.reduced) AS line
      WHERE t.business_id = %(business_id)s
    ) AS shares, jsonb_array_elements_text(line->1) WITH ORDINALITY AS each (amount, place)
    GROUP BY id, line->>0, place
  ) AS places
  GROUP BY id
) AS kept ON kept.id = t.id
WHERE t.business_id = %(business_id)s"""


def _write_offs(tables: SideTables) -> str:
    """Check the split of each write-off, and that a live one belongs to an open document."""
    return f"""
SELECT w.id::text AS name,
       share.amount = w.amount AND (w.reversed_at IS NOT NULL OR d.state = 'open') AS holds
FROM {tables.write_off} w
JOIN {tables.document} d ON d.business_id = %(business_id)s AND d.id = w.document_id,
{sum_of("w.split")} AS share
WHERE w.business_id = %(business_id)s"""


def _document_checks(tables: SideTables) -> dict[str, str]:
    noun = tables.document
    return {
        f"{noun}_numbers": behind_series(noun, tables.side.series),
        f"{noun}_totals": _document_totals(tables),
        f"{noun}_days": _days(tables),
        f"{noun}_settlement": _settlement(tables),
        f"{noun}_parts_settled": _parts_settled(tables),
        f"{noun}_parts_returned": _parts_returned(tables),
        f"{noun}_lines_reduced": _lines_reduced(tables),
        f"{tables.write_off}s": _write_offs(tables),
    }


DOCUMENT_CHECKS = {
    name: check for tables in BOTH for name, check in _document_checks(tables).items()
}


# Integrity checks of customer and vendor credits: numbers, totals and allocations.


def _sum(taxes: str) -> str:
    """Return SQL for the sum of a list of taxes of a line; 0 for old lines without tax codes."""
    return (
        "coalesce((SELECT sum((tax->>0)::bigint)"
        f" FROM jsonb_array_elements(item->'{taxes}') AS tax), 0)"
    )


def _credit_totals(tables: SideTables) -> str:
    return f"""
SELECT coalesce(c.number, c.id::text) AS name,
       c.tax_total = line.tax AND c.total_amount = line.net + line.tax - line.withheld AS holds
FROM {tables.credit} c, LATERAL (
  SELECT coalesce(sum((item->>'amount')::bigint), 0) AS net,
         coalesce(sum(coalesce((item->>'tax_amount')::bigint, {_sum("taxes")})), 0) AS tax,
         coalesce(sum({_sum("withheld")}), 0) AS withheld
  FROM jsonb_array_elements(c.lines) AS item
) AS line
WHERE c.business_id = %(business_id)s"""


def _applied(tables: SideTables) -> str:
    return f"""
SELECT coalesce(c.number, c.id::text) AS name,
       c.applied = coalesce(a.amount, 0) AND c.refunded = coalesce(r.amount, 0) AS holds
FROM {tables.credit} c
LEFT JOIN (
  SELECT credit_id, sum(amount) AS amount FROM {tables.credit_allocation}
  WHERE business_id = %(business_id)s AND end_on IS NULL GROUP BY credit_id
) AS a ON a.credit_id = c.id
LEFT JOIN (
  SELECT refunded_credit_id, sum(amount) AS amount FROM {tables.refund_allocation}
  WHERE business_id = %(business_id)s AND end_on IS NULL AND refunded_credit_id IS NOT NULL
  GROUP BY refunded_credit_id
) AS r ON r.refunded_credit_id = c.id
WHERE c.business_id = %(business_id)s"""


def _parts_applied(tables: SideTables) -> str:
    """Compare, per part, the used amounts of a credit with its live allocations and refunds."""
    paid_out = "end_on IS NULL AND refunded_credit_id IS NOT NULL"
    return by_part(
        tables.credit,
        "coalesce(t.number, t.id::text)",
        kept="settled",
        sums_to="t.applied + t.refunded",
        parts=f"""
      SELECT id, {net_of("item")} AS part, (item->>'amount')::bigint AS amount
      FROM {tables.credit}, jsonb_array_elements(lines) AS item
      WHERE business_id = %(business_id)s
      UNION ALL
      SELECT id, tax_account_id::text, (item->>'tax_amount')::bigint
      FROM {tables.credit}, jsonb_array_elements(lines) AS item
      WHERE business_id = %(business_id)s AND item ? 'tax_amount'
      UNION ALL
      SELECT id, {part_of("tax", 1)}, sign * (tax->>0)::bigint
      FROM {tables.credit}, jsonb_array_elements(lines) AS item,
           (VALUES ('taxes', 1), ('withheld', -1)) AS kind (name, sign),
           jsonb_array_elements(item->kind.name) AS tax
      WHERE business_id = %(business_id)s""",
        taken=" UNION ALL ".join(
            (
                shares(tables.credit_allocation, "credit_id", "own_split", "end_on IS NULL"),
                shares(tables.refund_allocation, "refunded_credit_id", "split", paid_out),
            )
        ),
    )


def _credit_allocations(tables: SideTables) -> str:
    """Check that a live allocation connects an open credit and an open document of one party."""
    return f"""
SELECT a.id::text AS name,
       share.amount = a.amount AND own.amount = a.amount
       AND (
         a.end_on IS NOT NULL
         OR c.state = 'open' AND d.state = 'open' AND d.party_id = c.party_id
         AND a.document_date = d.opened_on
       ) AS holds
FROM {tables.credit_allocation} a
JOIN {tables.credit} c ON c.business_id = %(business_id)s AND c.id = a.credit_id
JOIN {tables.document} d ON d.business_id = %(business_id)s AND d.id = a.document_id,
{sum_of("a.split")} AS share,
{sum_of("a.own_split")} AS own
WHERE a.business_id = %(business_id)s"""


def _credit_checks(tables: SideTables) -> dict[str, str]:
    noun = tables.credits
    return {
        f"{noun}_numbers": behind_series(tables.credit, tables.side.credit_series),
        f"{noun}_totals": _credit_totals(tables),
        f"{noun}_applied": _applied(tables),
        f"{noun}_parts_applied": _parts_applied(tables),
        f"{noun}_allocations": _credit_allocations(tables),
    }


CREDIT_CHECKS = {name: check for tables in BOTH for name, check in _credit_checks(tables).items()}


# Integrity checks of payments: amounts and allocations.


def _amounts(tables: SideTables) -> str:
    """Compare the amounts of a payment with its live allocations and refunds.

    A payment that is not live has no allocations. With the status `refunded` it has no refunds
    either.
    """
    return f"""
SELECT p.id::text AS name,
       p.refunded = coalesce(r.amount, 0)
       AND p.allocated = coalesce(a.amount, 0) + p.refunded
       AND p.applied = CASE WHEN p.status = 'completed' THEN coalesce(a.amount, 0) ELSE 0 END
       AND (a.amount IS NULL OR p.status IN ('pending', 'processing', 'completed'))
       AND (p.refunded = 0 OR p.status <> 'refunded') AS holds
FROM {tables.payment} p
LEFT JOIN (
  SELECT payment_id, sum(amount) AS amount FROM {tables.allocation}
  WHERE business_id = %(business_id)s AND end_on IS NULL GROUP BY payment_id
) AS a ON a.payment_id = p.id
LEFT JOIN (
  SELECT payment_id, sum(amount) AS amount FROM {tables.refund_allocation}
  WHERE business_id = %(business_id)s AND end_on IS NULL AND payment_id IS NOT NULL
  GROUP BY payment_id
) AS r ON r.payment_id = p.id
WHERE p.business_id = %(business_id)s"""


def _payment_allocations(tables: SideTables) -> str:
    """Check that a live allocation settles an open document of the payment's party.

    It is split if the payment is completed.
    """
    return f"""
SELECT a.id::text AS name,
       coalesce(share.amount, settles) = settles
       AND (
         a.end_on IS NOT NULL
         OR d.state = 'open' AND d.party_id = p.party_id AND a.document_date = d.opened_on
         AND (share.amount IS NOT NULL) = (p.status = 'completed')
       ) AS holds
FROM {tables.allocation} a
JOIN {tables.payment} p ON p.business_id = %(business_id)s AND p.id = a.payment_id
JOIN {tables.document} d ON d.business_id = %(business_id)s AND d.id = a.document_id,
{sum_of("a.split")} AS share,
coalesce(a.document_amount, a.amount) AS settles
WHERE a.business_id = %(business_id)s"""


def _bases(tables: SideTables) -> str:
    """Compare the stored base of foreign records with that of their live settlements."""
    settled = " UNION ALL ".join(
        (
            bases(tables.allocation, "document_id", "split", "end_on IS NULL"),
            bases(tables.credit_allocation, "document_id", "split", "end_on IS NULL"),
            bases(tables.write_off, "document_id", "split", "reversed_at IS NULL"),
        )
    )
    used = " UNION ALL ".join(
        (
            bases(tables.credit_allocation, "credit_id", "own_split", "end_on IS NULL"),
            bases(
                tables.refund_allocation,
                "refunded_credit_id",
                "split",
                "end_on IS NULL AND refunded_credit_id IS NOT NULL",
            ),
        )
    )
    held = bases(
        tables.refund_allocation,
        "payment_id",
        "split",
        "end_on IS NULL AND payment_id IS NOT NULL",
    )
    brought = f"""
      SELECT payment_id AS id, base_amount AS base FROM {tables.allocation}
      WHERE business_id = %(business_id)s AND end_on IS NULL AND base_amount IS NOT NULL"""
    return " UNION ALL ".join(
        (
            _base_of(tables.document, "base_settled", settled),
            _base_of(tables.credit, "base_used", used),
            _base_of(tables.payment, "base_refunded", held),
            _base_of(tables.payment, "base_allocated", f"{held} UNION ALL {brought}"),
        )
    )


def _base_of(table: str, kept: str, taken: str) -> str:
    """Compare the base in a column with what was taken; a base record has none.

    It is at most the base of the whole record.
    """
    return f"""
SELECT t.id::text AS name,
       coalesce(t.{kept}, 0) = coalesce(taken.base, 0)
       AND coalesce(t.{kept}, 0) BETWEEN 0 AND coalesce(t.base_total, 0) AS holds
FROM {table} t
LEFT JOIN (
  SELECT id, sum(base) AS base FROM ({taken}) AS each GROUP BY id
) AS taken ON taken.id = t.id
WHERE t.business_id = %(business_id)s"""


def _payment_checks(tables: SideTables) -> dict[str, str]:
    return {
        f"{tables.payments}payment_amounts": _amounts(tables),
        f"{tables.payments}allocations": _payment_allocations(tables),
        f"{tables.payments}base_amounts": _bases(tables),
    }


PAYMENT_CHECKS = {name: check for tables in BOTH for name, check in _payment_checks(tables).items()}
