-- One row: facts about this installation that all of its processes share.
create table installation (
  only_row   boolean primary key default true check (only_row),
  cursor_key bytea not null,
  created_at timestamptz not null default now()
);

create table accounts (
  id               bigint generated always as identity primary key,
  name             text not null,
  -- What the owner changed; everything else has the default that the code declares.
  settings         jsonb not null default '{}',
  outreach_enabled boolean not null default false,
  -- Messages per calendar month (UTC); null: unlimited.
  monthly_quota    integer check (monthly_quota >= 0),
  created_at       timestamptz not null default now()
);

create unique index accounts_name_idx on accounts (lower(name));

create table api_keys (
  id             uuid primary key,
  account_id     bigint not null references accounts (id),
  name           text not null,
  -- SHA-256 of the key; the key itself is never stored.
  hash           bytea not null,
  -- The first characters, to recognise a key by.
  prefix         text not null,
  mode           text not null check (mode in ('live', 'test')),
  -- null: all scopes.
  scopes         text[],
  -- Messages per day (UTC); null: no cap.
  daily_cap      integer check (daily_cap >= 0),
  -- null: any sender domain.
  sender_domains text[],
  -- The key that POSTHORN_API_KEY or the first start made.
  is_first       boolean not null default false,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz,
  revoked_at     timestamptz
);

create unique index api_keys_hash_idx on api_keys (hash);
create index api_keys_account_id_idx on api_keys (account_id);

-- Requests per minute that differ from what the operation declares.
create table account_limits (
  account_id bigint not null references accounts (id),
  operation  text not null,
  per_minute integer not null check (per_minute >= 0),
  primary key (account_id, operation)
);
