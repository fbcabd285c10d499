-- A campaign that warms an address up: which of its days it is in, how many it has fed in it and when the next begins.
alter table campaigns add column warmed jsonb;
-- Nothing more of it is fed before then.
alter table campaigns add column rests_until timestamptz;
