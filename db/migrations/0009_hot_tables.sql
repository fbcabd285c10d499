-- Rows of these tables are written in bulk, each in one transaction with the row it belongs to, and are never
-- separated from it: a foreign key would look up, for every row, what the same statement has just written.
alter table messages drop constraint messages_account_id_fkey;
alter table messages drop constraint messages_key_id_fkey;
alter table message_bodies drop constraint message_bodies_message_id_fkey;
alter table message_attachments drop constraint message_attachments_message_id_fkey;
alter table message_events drop constraint message_events_account_id_fkey;
alter table message_events drop constraint message_events_message_id_fkey;
alter table captured_messages drop constraint captured_messages_account_id_fkey;

-- Written once and read whole: kept as the text it came as, and in the row as long as it fits, since compressing
-- a small body and moving it out costs more than everything else that is written for its message.
alter table message_bodies alter column parts type json using parts::text::json;
alter table message_bodies set (toast_tuple_target = 8160);

-- Ends a transaction that went ahead on an assumption which turns out not to hold; it is run again without it.
create function assumption_failed() returns boolean language plpgsql as $$
begin
  raise exception 'an assumption of this transaction does not hold' using errcode = 'PH001';
end $$;

-- One index instead of two: every question about these rows names the account.
alter table audit_lines drop constraint audit_lines_pkey, add primary key (account_id, id);
drop index audit_lines_account_id_idx;
alter table message_events drop constraint message_events_pkey, add primary key (account_id, id);
drop index message_events_account_id_idx;

-- The sum of the buckets and the first that is not empty, so that most statements need not look at all sixty. The
-- minute in progress starts anew.
truncate rate_windows;
alter table rate_windows add column used integer not null, add column oldest smallint not null;
