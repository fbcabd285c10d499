create table suppressions (
  account_id bigint not null references accounts (id),
  -- Lower case, domain in its ASCII form.
  email      text not null,
  reason     text not null
             check (reason in ('hard_bounce', 'soft_bounce_limit', 'complaint', 'unsubscribe', 'manual')),
  -- Where it came from: api, bounce, feedback, unsubscribe…
  source     text not null,
  message_id uuid,
  created_at timestamptz not null,
  -- Orders lists; addresses may arrive in the same instant.
  id         uuid not null,
  primary key (account_id, email)
);

create index suppressions_account_id_idx on suppressions (account_id, id desc);
create index suppressions_reason_idx on suppressions (account_id, reason, id desc);

-- The latest soft bounces of an address; a delivery clears them.
create table soft_bounces (
  account_id bigint not null references accounts (id),
  email      text not null,
  bounced_at timestamptz[] not null,
  primary key (account_id, email)
);

create table templates (
  id         bigint generated always as identity primary key,
  account_id bigint not null references accounts (id),
  name       text not null,
  subject    text not null,
  html       text not null,
  sender     jsonb not null,
  reply_to   text,
  to_field   text not null default '',
  tag        text not null default '',
  is_active  boolean not null default false,
  test_sent  boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index templates_account_id_idx on templates (account_id, id desc);

create table messages (
  id             uuid primary key,
  account_id     bigint not null references accounts (id),
  key_id         uuid not null references api_keys (id),
  status         text not null
                 check (status in ('queued', 'sent', 'delivered', 'failed', 'suppressed', 'held', 'cancelled')),
  source         text not null check (source in ('api', 'smtp', 'campaign', 'automation', 'outreach')),
  -- test: goes to capture whatever the transport.
  mode           text not null check (mode in ('live', 'test')),
  stream         text not null check (stream in ('transactional', 'marketing')),
  sender         text not null,
  sender_name    text,
  recipient      text not null,
  recipient_name text,
  subject        text not null,
  tag            text,
  tags           text[],
  metadata       jsonb,
  campaign_id    bigint,
  template_id    bigint,
  batch_id       uuid,
  -- The RFC 5322 one, with angle brackets.
  message_id     text not null,
  created_at     timestamptz not null,
  scheduled_at   timestamptz,
  sent_at        timestamptz,
  delivered_at   timestamptz,
  attempts       integer not null default 0,
  last_error     jsonb,
  held_reason    text,
  -- What the upstream calls it, to match its feedback.
  upstream_id    text
) with (fillfactor = 80);

create index messages_account_id_idx on messages (account_id, id desc);
create index messages_recipient_idx on messages (account_id, recipient, id desc);
create index messages_tag_idx on messages (account_id, tag, id desc) where tag is not null;
create index messages_status_idx on messages (account_id, status, id desc) where status <> 'delivered';
create index messages_message_id_idx on messages (account_id, message_id);
create index messages_upstream_id_idx on messages (upstream_id) where upstream_id is not null;
create index messages_batch_id_idx on messages (account_id, batch_id) where batch_id is not null;

-- What is sent, apart from the row that lists and states read.
create table message_bodies (
  message_id uuid primary key references messages (id) on delete cascade,
  account_id bigint not null,
  -- html, text, headers, reply_to, cc and the like; absent when the raw message was given.
  parts      jsonb,
  raw        bytea,
  track      jsonb not null default '{}'
);

create table message_attachments (
  message_id   uuid not null references messages (id) on delete cascade,
  position     integer not null,
  account_id   bigint not null,
  filename     text not null,
  content_type text not null,
  content_id   text,
  content      bytea not null,
  primary key (message_id, position)
);

-- One narrow row per message that is still to be handed over; gone when it is.
create table delivery_queue (
  message_id uuid primary key,
  account_id bigint not null,
  -- 0 transactional, 1 campaigns: each lane is worked on its own.
  lane       smallint not null,
  -- Also the end of a lease: a claimed row is due again when its worker should long have finished.
  due_at     timestamptz not null,
  attempts   integer not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create index delivery_queue_due_idx on delivery_queue (lane, account_id, due_at);

create table message_events (
  id         uuid primary key,
  account_id bigint not null references accounts (id),
  message_id uuid not null references messages (id) on delete cascade,
  type       text not null,
  at         timestamptz not null,
  data       jsonb not null default '{}'
);

create index message_events_message_id_idx on message_events (message_id, id);
create index message_events_account_id_idx on message_events (account_id, id desc);

-- What the capture transport took, to be read in the sandbox.
create table captured_messages (
  id          uuid primary key,
  account_id  bigint not null references accounts (id),
  message_id  uuid not null,
  recipient   text not null,
  raw         bytea not null,
  received_at timestamptz not null
);

create unique index captured_messages_message_id_idx on captured_messages (account_id, message_id);
create index captured_messages_account_id_idx on captured_messages (account_id, id desc);
create index captured_messages_recipient_idx on captured_messages (account_id, recipient, id desc);
