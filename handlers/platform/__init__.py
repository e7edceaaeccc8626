"""Operations on partners, businesses, tokens, sandboxes, stored documents and the audit trail."""
