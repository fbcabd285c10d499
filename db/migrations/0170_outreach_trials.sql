-- Steps that went to the sandbox take places of the day like all others, but no mailbox gets known by them: neither does
-- what it may send in a day grow, nor do fewer of its messages come back.
alter table outreach_mailbox_days add column captured integer not null default 0;
