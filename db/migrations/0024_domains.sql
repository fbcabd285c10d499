-- A domain serves an account only while DNS shows a record that no other account was given: its own DKIM key, or the
-- token. `records` is what is to be published and what DNS said of each, the last known state kept beside the last
-- answer. `upstream` is what a transport that signs by itself asks to be published.
create table domains (
  id            bigint generated always as identity primary key,
  account_id    bigint not null references accounts (id),
  domain        text not null,
  token         text not null,
  status        text not null default 'pending' check (status in ('pending', 'verified', 'failed')),
  upstream      jsonb,
  records       jsonb not null default '[]',
  checked_at    timestamptz,
  -- The first time; a domain that was never verified cannot break.
  verified_at   timestamptz,
  next_check_at timestamptz not null,
  created_at    timestamptz not null,
  unique (account_id, domain)
);

create index domains_listed on domains (account_id, id desc);
create index domains_due on domains (next_check_at);

-- A key made for a declared domain has a public key here, and signs only while DNS shows it. One stored by hand has none
-- and always signs.
alter table dkim_keys
  add column public_key text,
  add column signs      boolean not null default true,
  add column stage      text not null default 'current' check (stage in ('current', 'next', 'retired')),
  add column retired_at timestamptz;
