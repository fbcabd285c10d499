-- Envelopes of upstream feedback that were taken in: providers deliver them more than once.
create table feedback_seen (
  provider text not null,
  id       text not null,
  seen_at  timestamptz not null,
  primary key (provider, id)
);

create index feedback_seen_at_idx on feedback_seen (seen_at);

-- Addresses to take off the upstream's own suppression list. Written with the change, worked off afterwards.
create table upstream_unsuppressions (
  email    text primary key,
  -- Also the end of a lease, as in delivery_queue.
  due_at   timestamptz not null,
  attempts integer not null default 0
);

-- Whether any account still wants an address suppressed.
create index suppressions_email_idx on suppressions (email);

-- One row per upstream that limits its rate: the moment from which the next message may be handed over.
create table upstream_rates (
  upstream text primary key,
  free_at  timestamptz not null
);
