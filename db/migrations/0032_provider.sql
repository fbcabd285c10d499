-- Domains that an account does not write to.
create table blocked_domains (
  account_id bigint not null references accounts (id),
  domain text not null,
  created_at timestamptz not null,
  primary key (account_id, domain)
);

-- How far an account's things were copied over from the provider, for each kind of thing.
create table provider_copies (
  account_id bigint not null references accounts (id),
  source text not null,
  kind text not null,
  next_offset bigint not null default 0,
  copied bigint not null default 0,
  skipped bigint not null default 0,
  primary key (account_id, source, kind)
);

-- What a thing of the source has become here.
create table provider_copied_ids (
  account_id bigint not null,
  source text not null,
  kind text not null,
  theirs text not null,
  ours bigint not null,
  primary key (account_id, source, kind, theirs)
);
