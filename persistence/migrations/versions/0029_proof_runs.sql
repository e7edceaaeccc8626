-- What `accounting check-books` found, each time it looked through all books: for those who watch.
CREATE TABLE proof_run (
  id UUID NOT NULL,
  began_at TIMESTAMP WITH TIME ZONE NOT NULL,
  ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
  businesses BIGINT NOT NULL,
  faulty BIGINT NOT NULL,
  checked BIGINT NOT NULL,
  holds BOOLEAN NOT NULL,
  CONSTRAINT proof_run_pkey PRIMARY KEY (id)
);
GRANT SELECT, INSERT ON proof_run TO accounting_server;
