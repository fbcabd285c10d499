-- Keys that tracking links are sealed with. In the database, so that every process reads what any of them wrote;
-- old ones stay, because mail is read long after it was sent.
create table tracking_keys (
  id         smallint primary key,
  key        bytea not null,
  created_at timestamptz not null default now()
);
