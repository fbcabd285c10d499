-- Whoever takes a message of outreach for abuse tells their provider, which tells the mailbox that it came from.
alter table outreach_replies
  drop constraint outreach_replies_kind_check,
  add constraint outreach_replies_kind_check check (kind in ('reply', 'automatic', 'bounce', 'complaint'));

drop index outreach_replies_inbox_idx;
create index outreach_replies_inbox_idx on outreach_replies (account_id, id desc) where kind in ('reply', 'automatic');

alter table outreach_mailbox_days add column complained integer not null default 0;

-- Of the key that asked for an answer: nothing leaves the machine for one of mode test.
alter table outreach_messages add column mode text not null default 'live' check (mode in ('live', 'test'));
