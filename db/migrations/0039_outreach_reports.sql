-- Whoever takes a message of outreach for abuse tells their provider, which tells the mailbox that it came from.
alter table outreach_replies
  drop constraint outreach_replies_kind_check,
  add constraint outreach_replies_kind_check check (kind in ('reply', 'automatic', 'bounce', 'complaint'));

drop index outreach_replies_inbox_idx;
create index outreach_replies_inbox_idx on outreach_replies (account_id, id desc) where kind in ('reply', 'automatic');

alter table outreach_mailbox_days add column complained integer not null default 0;

-- Of the key that asked for an answer: nothing leaves the machine for one of mode test.
alter table outreach_messages add column mode text not null default 'live' check (mode in ('live', 'test'));

-- Some providers write a Message-ID of their own: the one that really went out stands in the copy that they file among
-- what was sent. null: the same, or nobody knows. is_filed: the copy was found.
alter table outreach_messages
  add column final_message_id text,
  add column is_filed boolean not null default false;

create index outreach_messages_unfiled_idx on outreach_messages (account_id, mailbox_id, created_at)
  where not is_filed and state in ('unconfirmed', 'sent');
create index outreach_messages_final_idx on outreach_messages (account_id, final_message_id)
  where final_message_id is not null;
