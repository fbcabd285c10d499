-- What a cancelled campaign had left was given back already; archiving it would do so again.
update campaigns set spent_at = null where in_force = 'cancelled' and followed = 'cancelled' and spent_at is not null;

-- When somebody last asked for a call in spite of a pause: a call that began before sets none.
alter table webhooks add column lifted_at timestamptz;

-- The runs of a cart, under whatever address.
create index automation_runs_open_cart_idx on automation_runs (account_id, cart_id)
  where cart_id is not null and status in ('running', 'paused');

-- What is due of each account, found account by account.
create index domains_account_due_idx on domains (account_id, next_check_at);
