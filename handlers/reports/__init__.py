"""Operations that return reports and insights."""
