-- Empty for most businesses. Accounts are few, so that it is built in a moment.
CREATE INDEX account_archived_idx ON account (business_id) WHERE archived_at IS NOT NULL;
