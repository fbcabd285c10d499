-- A subscription that waits for the person to confirm it, and afterwards the proof that they did.
create table double_optins (
  account_id       bigint not null references accounts (id),
  id               uuid not null,
  email            text not null,
  -- Values by attribute name, as the form gave them.
  attributes       jsonb not null,
  include_list_ids bigint[] not null,
  exclude_list_ids bigint[] not null,
  redirect_url     text not null,
  -- The key that asked for it.
  key_id           uuid not null,
  created_at       timestamptz not null,
  confirmed_at     timestamptz,
  confirmed_ip     text,
  primary key (account_id, id)
);

create index double_optins_email_idx on double_optins (account_id, email);
create index double_optins_created_at_idx on double_optins (created_at);

alter table processes drop constraint processes_name_check;
alter table processes
  add constraint processes_name_check check (name in ('IMPORTUSER', 'EXPORTUSER')),
  -- Of an export: the last contact that is in its file; moves in the transaction that adds to the file.
  add column last_contact_id bigint not null default 0,
  -- The secret part of the address of its file; null: there is no file, or none any more.
  add column file_token text;

create unique index processes_file_token_idx on processes (file_token) where file_token is not null;

-- The file of an export, a page of contacts a row.
create table export_chunks (
  account_id bigint not null,
  process_id bigint not null,
  number     int not null,
  csv        text not null,
  primary key (account_id, process_id, number),
  foreign key (account_id, process_id) references processes (account_id, id) on delete cascade
);
