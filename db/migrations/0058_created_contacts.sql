-- Who came since a moment, and how many: all contacts were read for it.
create index contacts_created_at_idx on contacts (account_id, created_at);
