-- What an account should know without having asked: a domain broke, a webhook was switched off, a cap is near.
-- At most one open notice of a code and a subject; it is resolved when what it tells of is over.
create table notices (
  id          uuid primary key,
  account_id  bigint not null references accounts (id),
  code        text not null,
  subject     text not null,
  message     text not null,
  details     jsonb not null,
  created_at  timestamptz not null,
  resolved_at timestamptz
);

create unique index notices_open on notices (account_id, code, subject) where resolved_at is null;
create index notices_listed on notices (account_id, id desc);
