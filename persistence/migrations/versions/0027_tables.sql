-- Tokens that are revoked by themselves, until they would have expired.
CREATE TABLE revoked_token (
  id UUID NOT NULL,
  partner_id UUID NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT revoked_token_pkey PRIMARY KEY (id)
);
CREATE INDEX revoked_token_partner_id_expires_at_idx ON revoked_token (partner_id, expires_at);

-- What each worker has let through of each name in a minute, so that the others know. It is worth
-- nothing after the minute: not logged, not replicated, and of many machines the coordinator alone
-- has it.
CREATE UNLOGGED TABLE request_count (
  minute BIGINT NOT NULL,
  name TEXT NOT NULL,
  worker UUID NOT NULL,
  counted BIGINT NOT NULL,
  CONSTRAINT request_count_pkey PRIMARY KEY (minute, name, worker)
);
