-- Since when DNS has shown nothing that only this account was given; null: it shows it, or never did. What nobody has
-- proven for long may be somebody else's by now.
alter table domains add column unproven_since timestamptz;
