-- Lines by the tags of their documents. What refers to another table comes once this one is spread,
-- where tables are.
CREATE TABLE tagged_line (
  business_id UUID NOT NULL,
  tag TEXT NOT NULL,
  account_id UUID NOT NULL,
  entry_date DATE NOT NULL,
  line_id UUID NOT NULL,
  entry_id UUID NOT NULL,
  document_id UUID NOT NULL,
  debit BIGINT NOT NULL,
  credit BIGINT NOT NULL,
  in_ledger BOOLEAN NOT NULL,
  in_cash BOOLEAN NOT NULL,
  has_several BOOLEAN NOT NULL,
  CONSTRAINT tagged_line_pkey PRIMARY KEY (business_id, tag, account_id, entry_date, line_id),
  CONSTRAINT tagged_line_counted_check CHECK (in_ledger OR in_cash)
);

CREATE INDEX tagged_line_business_id_document_id_idx ON tagged_line (business_id, document_id);
CREATE INDEX tagged_line_sums_idx ON tagged_line (business_id, tag, account_id, entry_date)
  INCLUDE (debit, credit, in_ledger, in_cash);
CREATE INDEX tagged_line_several_idx ON tagged_line (business_id, entry_date)
  INCLUDE (in_ledger, in_cash) WHERE has_several;

GRANT SELECT, INSERT, DELETE ON tagged_line TO accounting_server;
ALTER TABLE tagged_line ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON tagged_line USING
  (business_id = nullif(current_setting('app.business_id', true), '')::uuid);

-- Makes the lines by tag of some documents anew. Tags of money that pays a refund may be any JSON.
-- On many machines it runs where the business lies, so that each of its statements names the
-- business, and none reads in order to insert.
CREATE FUNCTION tag_documents(business uuid, documents uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  tagged record;
  line record;
  word text;
BEGIN
  DELETE FROM tagged_line t
  WHERE t.business_id = tag_documents.business AND t.document_id = ANY (documents);
  FOR tagged IN
    SELECT held.id, array_append(array_agg(DISTINCT one.value #>> '{}'), '') AS tags
    FROM (
      SELECT d.id, d.transaction_tags AS tags FROM invoice d
      WHERE d.business_id = tag_documents.business AND d.id = ANY (documents)
      UNION ALL
      SELECT d.id, d.transaction_tags FROM bill d
      WHERE d.business_id = tag_documents.business AND d.id = ANY (documents)
      UNION ALL
      SELECT d.id, d.transaction_tags FROM invoice_payment d
      WHERE d.business_id = tag_documents.business AND d.id = ANY (documents)
      UNION ALL
      SELECT d.id, d.transaction_tags FROM bill_payment d
      WHERE d.business_id = tag_documents.business AND d.id = ANY (documents)
      UNION ALL
      SELECT d.id, d.transaction_tags FROM customer_credit d
      WHERE d.business_id = tag_documents.business AND d.id = ANY (documents)
      UNION ALL
      SELECT d.id, d.transaction_tags FROM vendor_credit d
      WHERE d.business_id = tag_documents.business AND d.id = ANY (documents)
      UNION ALL
      SELECT d.id, d.transaction_tags FROM invoice_refund_payment d
      WHERE d.business_id = tag_documents.business AND d.id = ANY (documents)
      UNION ALL
      SELECT d.id, d.transaction_tags FROM vendor_refund_payment d
      WHERE d.business_id = tag_documents.business AND d.id = ANY (documents)
    ) AS held
    CROSS JOIN LATERAL jsonb_array_elements(
      CASE jsonb_typeof(held.tags) WHEN 'array' THEN held.tags ELSE '[]' END
    ) AS one
    WHERE jsonb_typeof(one.value) = 'string' AND one.value <> '""'
    GROUP BY held.id
  LOOP
    FOR line IN
      SELECT l.id, l.account_id, l.entry_date, l.entry_id, l.debit, l.credit, true AS in_ledger,
             coalesce(l.in_cash, false) AS in_cash
      FROM journal_line l
      WHERE l.business_id = tag_documents.business AND l.document_id = tagged.id
      UNION ALL
      SELECT c.id, c.account_id, c.entry_date, c.entry_id, c.debit, c.credit, false, true
      FROM cash_line c
      WHERE c.business_id = tag_documents.business AND c.document_id = tagged.id
    LOOP
      FOREACH word IN ARRAY tagged.tags LOOP
        INSERT INTO tagged_line (
          business_id, tag, account_id, entry_date, line_id, entry_id, document_id, debit, credit,
          in_ledger, in_cash, has_several
        ) VALUES (
          tag_documents.business, word, line.account_id, line.entry_date, line.id, line.entry_id,
          tagged.id, line.debit, line.credit, line.in_ledger, line.in_cash,
          word = '' AND cardinality(tagged.tags) > 2
        );
      END LOOP;
    END LOOP;
  END LOOP;
END
$$;
