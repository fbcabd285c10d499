-- Each account has its own key per domain. The private key is encrypted with a key outside the database.
create table dkim_keys (
  account_id  bigint not null references accounts (id),
  domain      text not null,
  selector    text not null,
  private_key bytea not null,
  created_at  timestamptz not null default now(),
  primary key (account_id, domain, selector)
);
