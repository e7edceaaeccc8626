ALTER TABLE stored_document DROP CONSTRAINT stored_document_linked_type_known_check;
ALTER TABLE stored_document
  ADD CONSTRAINT stored_document_linked_type_known_check CHECK (linked_type IN ('customer', 'invoice', 'invoice_refund', 'customer_credit', 'vendor', 'bill', 'vendor_credit', 'vendor_refund', 'invoice_payment', 'bill_payment', 'bank_transaction', 'journal_entry'));

-- Null in lines of before, and in those of a server of the release before.
ALTER TABLE journal_line ADD COLUMN tags JSONB;

-- Lines with tags of their own, of entries by hand and of bank transactions, are tagged too.
CREATE OR REPLACE FUNCTION tag_documents(business uuid, documents uuid[])
 RETURNS void
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
  FOR line IN
    SELECT l.id, l.account_id, l.entry_date, l.entry_id, l.document_id, l.debit, l.credit,
           coalesce(l.in_cash, false) AS in_cash,
           ARRAY(SELECT DISTINCT jsonb_array_elements_text(l.tags)) || ''::text AS tags
    FROM journal_line l
    WHERE l.business_id = tag_documents.business AND l.document_id = ANY (documents)
      AND l.tags IS NOT NULL
  LOOP
    FOREACH word IN ARRAY line.tags LOOP
      INSERT INTO tagged_line (
        business_id, tag, account_id, entry_date, line_id, entry_id, document_id, debit, credit,
        in_ledger, in_cash, has_several
      ) VALUES (
        tag_documents.business, word, line.account_id, line.entry_date, line.id, line.entry_id,
        line.document_id, line.debit, line.credit, true, line.in_cash,
        word = '' AND cardinality(line.tags) > 2
      );
    END LOOP;
  END LOOP;
END
$$;
