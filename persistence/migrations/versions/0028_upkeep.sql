-- One row for all servers: how far the work is that no caller asks for. The first round is due once
-- the time between two of them is over.
CREATE TABLE upkeep (
  id INTEGER NOT NULL,
  held_by UUID,
  held_until TIMESTAMP WITH TIME ZONE NOT NULL,
  begun_at TIMESTAMP WITH TIME ZONE NOT NULL,
  ended_at TIMESTAMP WITH TIME ZONE,
  after_id UUID,
  businesses BIGINT NOT NULL,
  answers BIGINT NOT NULL,
  files BIGINT NOT NULL,
  records BIGINT NOT NULL,
  failures BIGINT NOT NULL,
  CONSTRAINT upkeep_pkey PRIMARY KEY (id),
  CONSTRAINT upkeep_single_check CHECK (id = 1)
);
INSERT INTO upkeep VALUES (1, NULL, now(), now(), now(), NULL, 0, 0, 0, 0, 0);
GRANT SELECT, UPDATE ON upkeep TO accounting_server;
