-- Images of the media library. A row is there before its file and until after it, so that no file is without a row.
create table media (
  account_id   bigint not null references accounts (id),
  id           bigint generated always as identity,
  -- What the world knows it by; random, since its address needs no key.
  uuid         uuid not null unique,
  -- pending: its file is being written. deleted: its file is still to be removed.
  state        text not null check (state in ('pending', 'stored', 'deleted')),
  name         text not null,
  content_type text not null,
  -- What the storage knows it by.
  file         text not null,
  width        integer not null,
  height       integer not null,
  size         integer not null,
  created_at   timestamptz not null,
  -- When what is not stored is cleared away.
  clear_at     timestamptz,
  primary key (account_id, id),
  check ((state = 'stored') = (clear_at is null))
);

create index media_clear_at_idx on media (clear_at) where clear_at is not null;
