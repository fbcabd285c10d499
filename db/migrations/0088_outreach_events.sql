-- What came back of a message of a mailbox, [{id, type, at, data}] as the events of all other messages: at most a bounce
-- and a complaint, since mailboxes tell nothing else.
alter table outreach_messages add column events jsonb not null default '[]';
