-- Addresses that an account sends from by number. One is active while its domain serves the account, or for good once
-- a code that was mailed to it came back.
create table senders (
  account_id   bigint not null references accounts (id),
  id           bigint generated always as identity,
  name         text not null,
  email        text not null,
  proven_at    timestamptz,
  -- Keyed hash of the last code; null when there is none to try.
  code_hash    bytea,
  code_sent_at timestamptz,
  tries_left   smallint not null default 0,
  created_at   timestamptz not null,
  primary key (account_id, id)
);

create unique index senders_named on senders (account_id, lower(email), name);

-- How many codes an address got on a day, whichever accounts asked: by a keyed hash, since the address may be a
-- stranger's.
create table sender_code_counts (
  address text not null,
  day     date not null,
  sent    integer not null,
  primary key (address, day)
);

-- The import that made a contact, to tell which import brought addresses that bounce.
alter table contacts add column import_id bigint;

create index contacts_import_idx on contacts (account_id, import_id) where import_id is not null;
