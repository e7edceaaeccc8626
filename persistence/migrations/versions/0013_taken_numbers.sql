-- What a statement looks up of numbers, as functions: Citus takes no sub-select among values.

-- The number of a series that stands `back` places before the last one taken, rendered.
CREATE FUNCTION taken_number(business uuid, series text, back bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  place text;
BEGIN
  SELECT (s.last - taken_number.back)::text INTO place FROM number_series s
  WHERE s.business_id = taken_number.business AND s.series = taken_number.series;
  RETURN taken_number.series || '-' || lpad(place, greatest(6, length(place)), '0');
END
$$;

-- An answer of which the numbers were cut out: pieces of text, each with the number before it.
CREATE FUNCTION filled_answer(business uuid, pieces json) RETURNS bytea
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT convert_to(
      string_agg(
        coalesce(taken_number(business, p.series, p.back), '') || p.text, '' ORDER BY p.place
      ),
      'UTF8'
    )
    FROM json_to_recordset(pieces) AS p (place bigint, text text, series text, back bigint)
  );
END
$$;

-- Rolls up the years that are due by now: their entries are posted, and whoever calls this holds
-- their series. On many machines it runs where the business lies, so that each of its statements
-- names the business, and none reads in order to insert.
CREATE FUNCTION advance_months(business uuid, years text[], step bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  due record;
  added record;
BEGIN
  FOR due IN
    SELECT s.series, greatest(s.rolled_up, 0) AS rolled_up, s.last FROM number_series s
    WHERE s.business_id = advance_months.business AND s.series = ANY (years)
      AND s.last >= greatest(s.rolled_up, 0) + step
  LOOP
    FOR added IN
      SELECT line.account_id, date_trunc('month', line.entry_date::timestamp)::date AS month,
             sum(line.debit) AS debits, sum(line.credit) AS credits,
             count(*) FILTER (WHERE line.debit > 0) AS debit_count,
             count(*) FILTER (WHERE line.credit > 0) AS credit_count
      FROM (
        SELECT e.id FROM journal_entry e
        WHERE e.business_id = advance_months.business AND e.series = due.series
          AND e.place > due.rolled_up AND e.place <= due.last
        ORDER BY e.place
      ) AS entry
      CROSS JOIN LATERAL (
        SELECT l.account_id, l.entry_date, l.debit, l.credit FROM journal_line l
        WHERE l.business_id = advance_months.business AND l.entry_id = entry.id
        ORDER BY l.line_number
      ) AS line
      GROUP BY 1, 2
    LOOP
      INSERT INTO account_month AS known
        (business_id, account_id, month, debits, credits, debit_count, credit_count)
      VALUES (advance_months.business, added.account_id, added.month, added.debits, added.credits,
              added.debit_count, added.credit_count)
      ON CONFLICT (business_id, account_id, month) DO UPDATE SET
        debits = known.debits + excluded.debits,
        credits = known.credits + excluded.credits,
        debit_count = known.debit_count + excluded.debit_count,
        credit_count = known.credit_count + excluded.credit_count;
    END LOOP;
    UPDATE number_series s SET rolled_up = due.last
    WHERE s.business_id = advance_months.business AND s.series = due.series;
  END LOOP;
END
$$;
