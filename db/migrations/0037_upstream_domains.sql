-- Domains that nobody sends from any more, to be given up at the upstream where we registered them.
create table upstream_removals (
  domain   text primary key,
  -- Also the end of a lease, as in delivery_queue.
  due_at   timestamptz not null,
  attempts integer not null default 0
);
