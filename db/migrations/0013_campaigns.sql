-- An email campaign. Recipients are frozen as messages when its send starts; what is sent is rendered from this row.
create table campaigns (
  account_id   bigint not null references accounts (id),
  id           bigint generated always as identity unique,
  name         text not null,
  type         text not null default 'classic' check (type in ('classic', 'trigger')),
  -- queued: waits for scheduled_at. suspended: interrupted. cancelled and sent are final, but for archiving.
  status       text not null default 'draft'
               check (status in ('draft', 'queued', 'in_process', 'suspended', 'sent', 'cancelled', 'archive')),
  -- What was in force before it was archived.
  was_status   text,
  subject      text not null default '',
  preview_text text not null default '',
  html         text not null default '',
  text         text,
  sender       jsonb not null,
  reply_to     text,
  to_field     text not null default '',
  tag          text,
  params       jsonb not null default '{}',
  -- {"listIds": [], "exclusionListIds": [], "segmentIds": [], "exclusionSegmentIds": []}
  recipients   jsonb not null default '{}',
  -- {"subjectA", "subjectB", "splitRule", "winnerCriteria", "winnerDelay"} of an A/B test.
  ab_test      jsonb,
  -- Which version the rest gets; tie counts as A.
  winner       text check (winner in ('A', 'B')),
  -- Fields of the provider that are kept and given back: header, footer, utm…, mirrorActive and the like.
  extras       jsonb not null default '{}',
  scheduled_at timestamptz,
  test_sent    boolean not null default false,
  created_at   timestamptz not null,
  modified_at  timestamptz not null,
  -- Who started the send: the key its messages count for.
  key_id       uuid,
  mode         text check (mode in ('live', 'test')),
  started_at   timestamptz,
  -- Recipients are frozen: from here on their number does not change.
  frozen_at    timestamptz,
  total        integer,
  -- The last message that was put into the queue; what comes after it is still to be fed.
  fed_to       uuid,
  sent_at      timestamptz,
  -- Why it was interrupted when nobody asked for it, and what to do about it.
  held_reason  text,
  primary key (account_id, id)
);

create index campaigns_status_idx on campaigns (account_id, status, id desc);
-- What the background work looks at.
create index campaigns_open_idx on campaigns (status, id)
  where status in ('queued', 'in_process', 'suspended', 'cancelled');

alter table messages
  -- The list that brought the recipient of a campaign, and the consent source at that time: statistics group by them.
  add column list_id        bigint,
  add column consent_source text,
  -- Of an A/B test: A, B, or R for the rest that waits for the winner.
  add column variant        text,
  -- Which kinds of opens and clicks there have been; the bits are those of the statistics.
  add column seen           smallint not null default 0;

create index messages_campaign_idx on messages (account_id, campaign_id, status, id) where campaign_id is not null;
