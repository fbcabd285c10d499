-- Messages accepted, counted in the transaction that accepts them. Months and days are UTC.
create table sending_months (
  account_id bigint not null references accounts (id),
  month      date not null,
  sent       bigint not null,
  -- How many of those asked for by the last statement were granted.
  granted    integer not null,
  primary key (account_id, month)
) with (fillfactor = 50);

create table sending_days (
  account_id bigint not null references accounts (id),
  day        date not null,
  key_id     uuid not null references api_keys (id),
  sent       bigint not null,
  granted    integer not null,
  primary key (account_id, day, key_id)
) with (fillfactor = 50);
