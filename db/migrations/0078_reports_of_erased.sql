-- What the reports on transactional mail count of people who were erased. Nobody can tell whose it was, or which message.
create table erased_reports (
  account_id bigint not null references accounts (id),
  -- The same for all that happened to one message; it stands nowhere else.
  mark       uuid not null,
  -- Of UTC.
  day        date not null,
  -- As the reports call it.
  word       text not null,
  is_robot   boolean not null,
  tags       text[]
);

create index erased_reports_day_idx on erased_reports (account_id, day);
