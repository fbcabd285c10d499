-- What a cancelled campaign had left was given back already; archiving it would do so again.
update campaigns set spent_at = null where in_force = 'cancelled' and followed = 'cancelled' and spent_at is not null;

-- When somebody last asked for a call in spite of a pause: a call that began before sets none.
alter table webhooks add column lifted_at timestamptz;
