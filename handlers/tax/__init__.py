"""Operations on tax codes and tax returns."""
