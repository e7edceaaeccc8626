GRANT DELETE ON bank_transaction TO accounting_server;
