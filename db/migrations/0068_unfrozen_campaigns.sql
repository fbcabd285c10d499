-- Those whose recipients are still to be written down: asked for every second.
create index campaigns_unfrozen_idx on campaigns (id)
  where frozen_at is null and (in_force = 'in_process' or (in_force = 'cancelled' and total is not null));
