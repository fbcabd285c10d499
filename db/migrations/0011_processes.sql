-- Work that goes on after its call was answered.
create table processes (
  account_id   bigint not null references accounts (id),
  id           bigint generated always as identity unique,
  name         text not null check (name in ('IMPORTUSER')),
  status       text not null default 'queued' check (status in ('queued', 'processing', 'completed', 'failed')),
  -- What it was asked to do.
  settings     jsonb not null,
  -- Where the file lies, for as long as it has not been read.
  file_url     text,
  -- What is before this chunk is done; moves in the transaction that does it.
  next_chunk   int not null default 0,
  chunks       int not null default 0,
  -- Not to be taken on before: somebody is fetching its file, or it failed and rests.
  due_at       timestamptz not null,
  attempts     int not null default 0,
  total        int not null default 0,
  created      int not null default 0,
  updated      int not null default 0,
  -- Known already, and not to be updated.
  skipped      int not null default 0,
  -- Left a list by their own choice and were not put on it again.
  kept_out     int not null default 0,
  faulty       int not null default 0,
  -- The first of them: [{"line": 2, "email": "…", "reason": "…"}, …].
  faulty_rows  jsonb not null default '[]',
  error        text,
  created_at   timestamptz not null,
  completed_at timestamptz,
  primary key (account_id, id)
);

create index processes_open_idx on processes (next_chunk, id) where status in ('queued', 'processing');

-- The rows of an import until they are worked off.
create table process_chunks (
  account_id bigint not null,
  process_id bigint not null,
  number     int not null,
  rows       json not null,
  primary key (account_id, process_id, number),
  foreign key (account_id, process_id) references processes (account_id, id) on delete cascade
);
