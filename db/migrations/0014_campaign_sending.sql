-- How far the background work is with a campaign.
drop index campaigns_open_idx;

alter table campaigns
  add column in_force    text generated always as (case status when 'archive' then was_status else status end) stored,
  -- The status that all of its messages have followed; null: they are on their way there.
  add column followed    text,
  -- The last message that was looked at on that way.
  add column followed_to uuid,
  -- When its messages were counted against quota and cap; null: they do not leave before.
  add column spent_at    timestamptz;

create index campaigns_due_idx on campaigns (scheduled_at) where status = 'queued';
create index campaigns_in_process_idx on campaigns (id) where in_force = 'in_process';
-- Those whose messages do not follow yet: a campaign that is over and done with is in neither of these.
create index campaigns_unfollowed_idx on campaigns (id)
  where in_force in ('in_process', 'suspended', 'cancelled')
    and followed is distinct from in_force
    and frozen_at is not null;

-- Whoever moves a campaign, and however short the time between two moves: its messages are looked at again.
create function campaign_moved() returns trigger language plpgsql as $$
begin
  new.followed := null;
  new.followed_to := null;
  return new;
end $$;

create trigger campaigns_moved before update on campaigns
  for each row when (old.status is distinct from new.status) execute function campaign_moved();

-- When a campaign's message was put into the queue: what its Date says and its tries are counted from.
alter table delivery_queue add column since timestamptz;

-- The n-th of many time-ordered identifiers made at once: in the order of n, 4096 to the millisecond.
create function ordered_uuid(ms bigint, n bigint) returns uuid language sql volatile as $$
  select (lpad(to_hex(ms + (n >> 12)), 12, '0') || '7'
          || lpad(to_hex(n & 4095), 3, '0') || substr(gen_random_uuid()::text, 20))::uuid
$$;
