-- A sliding minute per account and operation: one bucket a second, the current second last.
create table rate_windows (
  account_id bigint not null,
  operation  text not null,
  second     bigint not null,
  buckets    integer[] not null,
  -- How many the last statement asked for, might have had, and got.
  wanted     integer not null,
  allowed    integer not null,
  granted    integer not null,
  primary key (account_id, operation)
) with (fillfactor = 50);

create table idempotency_keys (
  account_id  bigint not null references accounts (id),
  operation   text not null,
  key         text not null,
  -- SHA-256 of the canonical request: the same key with another body is refused.
  fingerprint bytea not null,
  status      smallint not null,
  -- The bytes of the first answer.
  reply       text not null,
  expires_at  timestamptz not null,
  primary key (account_id, operation, key)
);

create index idempotency_keys_expires_at_idx on idempotency_keys (expires_at);

-- No foreign keys here: a line is written for every call, accounts and keys are never deleted, and checking both
-- would cost more than writing the line.
create table audit_lines (
  id         uuid primary key,
  account_id bigint not null,
  at         timestamptz not null,
  key_id     uuid not null,
  operation  text not null,
  params     jsonb not null,
  status     smallint not null,
  -- The refusal; null when the call succeeded.
  code       text,
  request_id text not null,
  ip         text
);

create index audit_lines_account_id_idx on audit_lines (account_id, id desc);
create index audit_lines_operation_idx on audit_lines (account_id, operation, id desc);
