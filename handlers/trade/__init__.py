"""Operations on customers, vendors, invoices, bills, payments, credits and refunds."""
