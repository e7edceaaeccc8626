-- The tables of webhooks. On many machines the coordinator alone has them.

-- The order of a partner's events over all its businesses. `place_events` writes it.
CREATE TABLE event_placement (
  partner_id UUID NOT NULL,
  position BIGINT NOT NULL,
  business_id UUID NOT NULL,
  first_sequence BIGINT NOT NULL,
  last_sequence BIGINT NOT NULL,
  CONSTRAINT event_placement_pkey PRIMARY KEY (partner_id, position),
  CONSTRAINT event_placement_sequences_ordered_check CHECK (first_sequence <= last_sequence)
);

-- The last position of that order for which deliveries were made.
CREATE TABLE webhook_feed (
  partner_id UUID NOT NULL,
  position BIGINT NOT NULL,
  CONSTRAINT webhook_feed_pkey PRIMARY KEY (partner_id)
);

-- The endpoints that a partner configures; the partner's audit trail has each change.
CREATE TABLE webhook_endpoint (
  id UUID NOT NULL,
  partner_id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  url TEXT NOT NULL,
  types JSONB,
  business_ids JSONB,
  ordered BOOLEAN NOT NULL,
  description TEXT,
  status TEXT NOT NULL,
  off_reason TEXT,
  off_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_endpoint_status_known_check CHECK (status IN ('active', 'paused', 'off')),
  CONSTRAINT webhook_endpoint_off_reason_known_check CHECK (off_reason IN ('gone', 'failing')),
  CONSTRAINT webhook_endpoint_off_explained_check CHECK ((status = 'off') = (off_reason IS NOT NULL) AND (status = 'off') = (off_at IS NOT NULL))
);
CREATE INDEX webhook_endpoint_partner_id_created_at_id_idx
  ON webhook_endpoint (partner_id, created_at, id);

-- The state of an endpoint that deliveries change.
CREATE TABLE webhook_health (
  endpoint_id UUID NOT NULL,
  partner_id UUID NOT NULL,
  after_position BIGINT NOT NULL,
  failing_since TIMESTAMP WITH TIME ZONE,
  slow_until TIMESTAMP WITH TIME ZONE,
  CONSTRAINT webhook_health_pkey PRIMARY KEY (endpoint_id),
  CONSTRAINT webhook_health_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint (id)
);

-- Encrypted by the server; the newest secret has no end.
CREATE TABLE webhook_secret (
  id UUID NOT NULL,
  endpoint_id UUID NOT NULL,
  partner_id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE,
  key_name TEXT NOT NULL,
  sealed BYTEA NOT NULL,
  CONSTRAINT webhook_secret_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_secret_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint (id)
);
CREATE INDEX webhook_secret_endpoint_id_idx
  ON webhook_secret (endpoint_id);

-- One event for one endpoint, with the result of its last attempt.
CREATE TABLE webhook_delivery (
  id UUID NOT NULL,
  endpoint_id UUID NOT NULL,
  partner_id UUID NOT NULL,
  business_id UUID NOT NULL,
  sequence BIGINT NOT NULL,
  event_id UUID NOT NULL,
  event_type TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at TIMESTAMP WITH TIME ZONE,
  held_by UUID,
  last_attempt_at TIMESTAMP WITH TIME ZONE,
  status_code INTEGER,
  milliseconds INTEGER,
  answer TEXT,
  error TEXT,
  CONSTRAINT webhook_delivery_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_delivery_status_known_check CHECK (status IN ('pending', 'delivered', 'failed')),
  CONSTRAINT webhook_delivery_pending_due_check CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
  CONSTRAINT webhook_delivery_endpoint_id_business_id_sequence_key UNIQUE (endpoint_id, business_id, sequence)
);
CREATE INDEX webhook_delivery_endpoint_id_created_at_id_idx
  ON webhook_delivery (endpoint_id, created_at, id);
CREATE INDEX webhook_delivery_held_idx
  ON webhook_delivery (endpoint_id) WHERE held_by IS NOT NULL;
CREATE INDEX webhook_delivery_pending_idx
  ON webhook_delivery (endpoint_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_delivery_undelivered_idx
  ON webhook_delivery (endpoint_id, business_id, sequence) WHERE status <> 'delivered';
