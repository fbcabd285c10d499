-- When the last reading began that went well, of whoever holds the mailbox: null until there was one. What came while
-- nobody watched is not known before.
alter table outreach_watches add column read_at timestamptz;
