-- Cold outreach: an account writes to prospects from mailboxes of its own, in steps, until they answer.

-- Who writes: printed in the footer of every message.
create table outreach_identities (
  account_id     bigint primary key references accounts (id),
  company_name   text not null,
  postal_address text not null,
  updated_at     timestamptz not null
);

create table outreach_mailboxes (
  account_id    bigint not null references accounts (id),
  id            bigint generated always as identity unique,
  email         text not null,
  name          text not null,
  -- {"host", "port", "secure", "user"} of each server; what opens them is among the sealed.
  smtp          jsonb not null,
  imap          jsonb not null,
  sealed        bytea not null,
  daily_limit   integer not null check (daily_limit > 0),
  -- From when the number of messages a day grows; null: it is at its limit.
  ramp_from     timestamptz,
  state         text not null default 'active' check (state in ('active', 'paused')),
  -- manual, login, sender, bounces; null while it is active.
  paused_reason text,
  -- In a row, and what was said last, in words.
  smtp_failures integer not null default 0,
  smtp_error    text,
  imap_failures integer not null default 0,
  imap_error    text,
  last_sync_at  timestamptz,
  created_at    timestamptz not null,
  modified_at   timestamptz not null,
  primary key (account_id, id),
  unique (account_id, email)
);

-- Days are UTC, as those of every cap.
create table outreach_mailbox_days (
  account_id bigint not null,
  mailbox_id bigint not null,
  day        date not null,
  sent       integer not null default 0,
  bounced    integer not null default 0,
  primary key (account_id, mailbox_id, day),
  foreign key (account_id, mailbox_id) references outreach_mailboxes (account_id, id) on delete cascade
);

create table outreach_prospects (
  account_id  bigint not null references accounts (id),
  id          bigint generated always as identity unique,
  email       text not null,
  first_name  text not null default '',
  last_name   text not null default '',
  company     text not null default '',
  attributes  jsonb not null default '{}',
  -- Where the address is from: whoever is written to may ask.
  source      text not null default '',
  created_at  timestamptz not null,
  modified_at timestamptz not null,
  primary key (account_id, id),
  unique (account_id, email)
);

create table outreach_sequences (
  account_id    bigint not null references accounts (id),
  id            bigint generated always as identity unique,
  name          text not null,
  mailbox_ids   bigint[] not null,
  -- [{"delayDays", "subject", "text", "html", "sameThread"}]
  steps         jsonb not null,
  -- {"timezone", "days", "from", "to"}
  schedule      jsonb not null,
  -- Messages a day of its zone; null: what its mailboxes may send.
  daily_limit   integer check (daily_limit > 0),
  stop_on_reply boolean not null default true,
  status        text not null default 'draft'
                check (status in ('draft', 'running', 'paused', 'stopped', 'finished')),
  -- Of the key that started it: nothing leaves the machine for one of mode test.
  mode          text not null default 'live' check (mode in ('live', 'test')),
  created_at    timestamptz not null,
  modified_at   timestamptz not null,
  primary key (account_id, id)
);

create index outreach_sequences_running_idx on outreach_sequences (account_id, id) where status = 'running';

create table outreach_sequence_days (
  account_id  bigint not null,
  sequence_id bigint not null,
  -- Of the sequence's zone.
  day         date not null,
  sent        integer not null default 0,
  primary key (account_id, sequence_id, day),
  foreign key (account_id, sequence_id) references outreach_sequences (account_id, id) on delete cascade
);

create table outreach_enrollments (
  account_id  bigint not null,
  sequence_id bigint not null,
  prospect_id bigint not null,
  state       text not null default 'active' check (state in ('active', 'finished', 'stopped')),
  -- Why it was stopped: replied, refused, unsubscribed, suppressed, bounced, erased, manual…
  reason      text,
  next_step   smallint not null default 0,
  -- Of the whole thread, from the first message on.
  mailbox_id  bigint,
  -- The next step goes at this time or later.
  due_at      timestamptz not null,
  -- The moment that the planner gave it; only what comes in the next minutes has one.
  planned_at  timestamptz,
  -- The message that is being handed over.
  handing_id  uuid,
  -- Temporary refusals of the next step.
  tries       smallint not null default 0,
  created_at  timestamptz not null,
  ended_at    timestamptz,
  primary key (account_id, sequence_id, prospect_id),
  foreign key (account_id, sequence_id) references outreach_sequences (account_id, id) on delete cascade,
  foreign key (account_id, prospect_id) references outreach_prospects (account_id, id) on delete cascade
);

create index outreach_enrollments_prospect_idx on outreach_enrollments (account_id, prospect_id);
-- What the planner reads: first steps by sequence, follow-ups by mailbox, each in its order.
create index outreach_enrollments_first_idx on outreach_enrollments (account_id, sequence_id, due_at, prospect_id)
  where state = 'active' and next_step = 0 and planned_at is null and handing_id is null;
create index outreach_enrollments_next_idx on outreach_enrollments
  (account_id, mailbox_id, sequence_id, due_at, prospect_id)
  where state = 'active' and next_step > 0 and planned_at is null and handing_id is null;
create index outreach_enrollments_planned_idx on outreach_enrollments (planned_at) where planned_at is not null;
create index outreach_enrollments_active_idx on outreach_enrollments (account_id, sequence_id) where state = 'active';

-- Every message that leaves, or left. It stays when its sequence goes, so that answers find their thread.
create table outreach_messages (
  account_id  bigint not null references accounts (id),
  id          uuid not null,
  sequence_id bigint,
  prospect_id bigint,
  mailbox_id  bigint not null,
  -- null: an answer that a person wrote.
  step        smallint,
  -- With its angle brackets.
  message_id  text not null,
  recipient   text not null,
  subject     text not null,
  text        text not null,
  html        text,
  -- The thread before it, the oldest first; the last is what it answers.
  refs        text[] not null default '{}',
  -- queued: an answer that waits. handing: at the mailbox's server, whose answer is not known yet. unconfirmed: nobody
  -- knows whether it left, so it is taken for sent and never sent again. failed: refused for good. bounced: refused later.
  state        text not null check (state in ('queued', 'handing', 'sent', 'unconfirmed', 'failed', 'bounced')),
  -- Until when whoever hands it over may still come back.
  leased_until timestamptz,
  tries       smallint not null default 0,
  error       text,
  created_at  timestamptz not null,
  sent_at     timestamptz,
  primary key (account_id, id),
  unique (account_id, message_id)
);

create index outreach_messages_thread_idx on outreach_messages (account_id, sequence_id, prospect_id, id);
create index outreach_messages_recipient_idx on outreach_messages (account_id, recipient);
create index outreach_messages_prospect_idx on outreach_messages (account_id, prospect_id);
create index outreach_messages_open_idx on outreach_messages (state, leased_until) where state in ('queued', 'handing');

-- Whoever must not be written to any more is in no sequence, whichever way the suppression came.
create function stop_suppressed_outreach() returns trigger language plpgsql as $$
begin
  if not exists (select 1
                   from suppressed s
                   join outreach_prospects p on p.account_id = s.account_id and p.email = s.email) then
    return null;
  end if;
  update outreach_enrollments e
     set state = 'stopped', ended_at = s.created_at, planned_at = null,
         reason = case s.reason when 'unsubscribe' then 'unsubscribed'
                                when 'hard_bounce' then 'bounced'
                                else 'suppressed' end
    from suppressed s
    join outreach_prospects p on p.account_id = s.account_id and p.email = s.email
   where e.account_id = p.account_id
     and e.prospect_id = p.id
     and e.state = 'active';
  return null;
end $$;

create trigger suppressions_stop_outreach after insert on suppressions referencing new table as suppressed
  for each statement execute function stop_suppressed_outreach();
