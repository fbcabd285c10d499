-- What customers tell about their contacts. Goes with the contact.
create table custom_events (
  account_id         bigint not null references accounts (id),
  id                 uuid not null,
  contact_id         bigint not null,
  name               text not null,
  event_date         timestamptz not null,
  properties         jsonb not null default '{}',
  contact_properties jsonb not null default '{}',
  object_type        text,
  object_id          text,
  created_at         timestamptz not null,
  primary key (account_id, id),
  foreign key (account_id, contact_id) references contacts (account_id, id) on delete cascade
);

create index custom_events_contact_id_idx on custom_events (account_id, contact_id, id desc);
create index custom_events_name_idx on custom_events (account_id, name, id desc);

-- Every name that ever came: finding them among the events would take longer with each one.
create table custom_event_names (
  account_id bigint not null references accounts (id),
  name       text not null,
  created_at timestamptz not null,
  primary key (account_id, name)
);

create table automations (
  account_id   bigint not null references accounts (id),
  id           uuid not null,
  name         text not null,
  trigger_type text not null check (trigger_type in ('custom_event', 'list_addition', 'abandoned_cart')),
  -- Of a custom event.
  event_name   text,
  -- Of an addition to a list.
  list_id      bigint,
  -- [{"delay_minutes", "subject", "html" or "template_id", "from"}, …]
  steps        jsonb not null,
  -- Minutes from the start of a run to each step.
  offsets      double precision[] not null,
  status       text not null default 'active' check (status in ('active', 'paused', 'deleted')),
  -- The key that its messages count for, and whether they leave.
  key_id       uuid not null,
  mode         text not null check (mode in ('live', 'test')),
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (account_id, id)
);

create index automations_event_name_idx on automations (account_id, event_name)
  where status = 'active' and trigger_type = 'custom_event';
create index automations_list_id_idx on automations (account_id, list_id)
  where status = 'active' and trigger_type = 'list_addition';

-- One person's way through an automation.
create table automation_runs (
  account_id    bigint not null references accounts (id),
  id            uuid not null default ordered_uuid((extract(epoch from clock_timestamp()) * 1000)::bigint, 0),
  -- null: the scenario for abandoned carts that everybody has.
  automation_id uuid,
  contact_id    bigint,
  -- Where there is a contact its address counts: it may have changed since.
  email         text not null,
  event_id      uuid,
  cart_id       text,
  -- What templates see as event.
  context       jsonb not null,
  -- When each step is due.
  schedule      timestamptz[] not null,
  next_step     int not null default 0,
  -- That of the next step, or later where something stood in its way.
  due_at        timestamptz not null,
  -- paused: its turn came while its automation was paused.
  status        text not null default 'running'
                check (status in ('running', 'paused', 'finished', 'stopped', 'failed')),
  -- Why it stopped or failed, or what its next step waits for.
  reason        text,
  -- How often its next step could not be queued.
  waits         int not null default 0,
  key_id        uuid not null,
  mode          text not null check (mode in ('live', 'test')),
  started_at    timestamptz not null,
  ended_at      timestamptz,
  primary key (account_id, id),
  foreign key (account_id, automation_id) references automations (account_id, id),
  foreign key (account_id, contact_id) references contacts (account_id, id) on delete cascade
);

create index automation_runs_due_idx on automation_runs (account_id, due_at) where status = 'running';
create index automation_runs_paused_idx on automation_runs (account_id, automation_id) where status = 'paused';
create index automation_runs_email_idx on automation_runs (account_id, email);
create index automation_runs_contact_id_idx on automation_runs (account_id, contact_id);
create unique index automation_runs_event_idx on automation_runs (account_id, event_id, automation_id)
  where event_id is not null;
create unique index automation_runs_cart_idx on automation_runs (account_id, email, cart_id)
  where cart_id is not null and status in ('running', 'paused');

-- Which automation a message is a step of.
alter table messages add column automation_id uuid;
create index messages_automation_idx on messages (account_id, automation_id, id) where automation_id is not null;

create function schedule_of(offsets double precision[], start timestamptz) returns timestamptz[]
language sql stable as $$
  select array_agg(start + o.minutes * interval '1 minute' order by o.n)
    from unnest(offsets) with ordinality as o (minutes, n)
$$;

-- Whoever comes onto a list, by whatever way, starts the automations that wait for that.
create function start_list_automations() returns trigger language plpgsql as $$
begin
  if not exists (select 1
                   from (select distinct account_id, list_id from changed) l
                   join automations a on a.account_id = l.account_id and a.list_id = l.list_id
                    and a.status = 'active' and a.trigger_type = 'list_addition') then
    return null;
  end if;
  insert into automation_runs
    (account_id, automation_id, contact_id, email, context, schedule, due_at, key_id, mode, started_at)
  select n.account_id, a.id, c.id, c.email, jsonb_build_object('list_id', n.list_id), s.schedule, s.schedule[1],
         a.key_id, a.mode, n.added_at
    from changed n
    join automations a on a.account_id = n.account_id and a.list_id = n.list_id
     and a.status = 'active' and a.trigger_type = 'list_addition'
    join contacts c on c.account_id = n.account_id and c.id = n.contact_id
   cross join lateral (select schedule_of(a.offsets, n.added_at) as schedule) s
   where c.email is not null
     and c.status = 'subscribed';
  return null;
end $$;

create trigger members_started after insert on list_members referencing new table as changed
  for each statement execute function start_list_automations();
