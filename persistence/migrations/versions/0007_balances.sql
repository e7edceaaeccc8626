-- Balances by month. An entry's number says whether it is rolled up: all entries of its series up to
-- `number_series.rolled_up` are, and the others are added up when a balance is read.

ALTER TABLE number_series
  ADD COLUMN rolled_up BIGINT,
  ADD CONSTRAINT number_series_rolled_up_counted_check CHECK (rolled_up BETWEEN 0 AND last);

ALTER TABLE journal_entry
  ADD COLUMN series TEXT GENERATED ALWAYS AS (left(sequence_number, 7)) STORED,
  ADD COLUMN place BIGINT GENERATED ALWAYS AS (
    substring(sequence_number from '^JE-[0-9]{4}-([0-9]{6,12})$')::bigint
  ) STORED;

CREATE INDEX journal_entry_business_id_series_place_idx
  ON journal_entry (business_id, series, place) INCLUDE (id);

-- The id ends the order of an account's lines, so that a page of them is found where it begins.
CREATE INDEX journal_line_business_id_account_id_entry_date_id_idx
  ON journal_line (business_id, account_id, entry_date, id) INCLUDE (debit, credit);
DROP INDEX journal_line_business_id_account_id_entry_date_idx;

CREATE TABLE account_month (
  business_id UUID NOT NULL,
  account_id UUID NOT NULL,
  month DATE NOT NULL,
  debits BIGINT NOT NULL,
  credits BIGINT NOT NULL,
  debit_count BIGINT NOT NULL,
  credit_count BIGINT NOT NULL,
  CONSTRAINT account_month_pkey PRIMARY KEY (business_id, account_id, month),
  CONSTRAINT account_month_first_of_month_check CHECK (extract(day FROM month) = 1),
  CONSTRAINT account_month_sums_positive_check
    CHECK (least(debits, credits, debit_count, credit_count) >= 0),
  CONSTRAINT account_month_business_id_account_id_fkey
    FOREIGN KEY(business_id, account_id) REFERENCES account (business_id, id),
  CONSTRAINT account_month_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

GRANT SELECT, INSERT, UPDATE ON account_month TO accounting_server;
ALTER TABLE account_month ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON account_month USING (business_id =
  (SELECT nullif(current_setting('app.business_id', true), '')::uuid));

-- What is posted already is rolled up at once: nobody posts while these tables are being altered.
INSERT INTO account_month
  (business_id, account_id, month, debits, credits, debit_count, credit_count)
SELECT l.business_id, l.account_id, date_trunc('month', l.entry_date::timestamp)::date,
       sum(l.debit), sum(l.credit),
       count(*) FILTER (WHERE l.debit > 0), count(*) FILTER (WHERE l.credit > 0)
FROM journal_line l
JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
JOIN number_series s ON s.business_id = e.business_id AND s.series = e.series AND e.place <= s.last
GROUP BY 1, 2, 3;
UPDATE number_series SET rolled_up = last WHERE series LIKE 'JE-%';
