-- Null in what was kept before.
ALTER TABLE reply ADD COLUMN operation text;
ALTER TABLE partner_reply ADD COLUMN operation text;
