"""Operations on bank accounts, bank lines, matching, reconciliations and payouts."""
