-- The secret keys that this database was used with, by their prints: a process that has another is told.
create table secret_key_prints (
  print   text primary key,
  seen_at timestamptz not null
);
