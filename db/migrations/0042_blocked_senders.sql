-- Senders that an address gets no transactional mail of, beside the suppression list, which is about all of them.
create table blocked_senders (
  account_id bigint not null references accounts (id),
  -- Both in lower case.
  email      text not null,
  sender     text not null,
  id         uuid not null,
  created_at timestamptz not null,
  primary key (account_id, email, sender)
);

create index blocked_senders_id_idx on blocked_senders (account_id, id desc);
