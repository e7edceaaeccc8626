"""Operations on the chart of accounts, the journal, opening balances and integrity checks."""
