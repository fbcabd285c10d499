-- What comes back to the mailboxes of outreach: answers of people and of machines, and reports of what did not arrive.
-- Only mail that belongs to a message of ours is kept; the rest of a mailbox is its owner's.
create table outreach_replies (
  account_id     bigint not null references accounts (id),
  id             bigint generated always as identity unique,
  kind           text not null check (kind in ('reply', 'automatic', 'bounce')),
  mailbox_id     bigint not null,
  sequence_id    bigint,
  prospect_id    bigint,
  -- Of its Message-ID, or of all of it where it has none: the same message is taken once, in whichever folder and
  -- under whichever number it is found.
  fingerprint    bytea not null,
  message_id     text,
  -- The thread before it, the oldest first.
  refs           text[] not null default '{}',
  sender         text not null,
  sender_name    text not null default '',
  subject        text not null,
  body_text      text not null default '',
  body_html      text,
  received_at    timestamptz not null,
  classification text check (classification in ('interested', 'refusal', 'absence', 'unsubscribe')),
  confidence     real not null,
  -- Why it is taken for what it is, and for an answer to us.
  reason         text not null,
  -- A person has said what it is; nothing changes that any more.
  corrected_at   timestamptz,
  -- Addresses that are suppressed because of it, which were free before.
  suppressed     text[] not null default '{}',
  state          text not null default 'new' check (state in ('new', 'read', 'archived')),
  created_at     timestamptz not null,
  primary key (account_id, id),
  unique (account_id, fingerprint)
);

create index outreach_replies_inbox_idx on outreach_replies (account_id, id desc) where kind <> 'bounce';
create index outreach_replies_prospect_idx on outreach_replies (account_id, prospect_id);
create index outreach_replies_sequence_idx on outreach_replies (account_id, sequence_id);
create index outreach_replies_sender_idx on outreach_replies (account_id, sender);

-- How far each folder has been read. The marker moves in the transaction that writes what was read.
create table outreach_folders (
  account_id   bigint not null,
  mailbox_id   bigint not null,
  folder       text not null,
  uid_validity bigint not null,
  last_uid     bigint not null,
  primary key (account_id, mailbox_id, folder),
  foreign key (account_id, mailbox_id) references outreach_mailboxes (account_id, id) on delete cascade
);

-- One process at a time watches a mailbox. Who does not renew its lease has lost it.
create table outreach_watches (
  account_id     bigint not null,
  mailbox_id     bigint not null,
  holder         uuid,
  held_until     timestamptz not null,
  -- After a failure: not before.
  next_try_at    timestamptz not null,
  -- Logins refused in a row, with these settings: after three it is left alone until they change.
  login_failures integer not null default 0,
  settings       bytea not null,
  primary key (account_id, mailbox_id),
  foreign key (account_id, mailbox_id) references outreach_mailboxes (account_id, id) on delete cascade
) with (fillfactor = 50);

create index outreach_watches_holder_idx on outreach_watches (holder) where holder is not null;
create index outreach_messages_mailbox_idx on outreach_messages (account_id, mailbox_id, id);
