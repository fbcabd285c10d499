-- Whoever left a list and comes back by the page of preferences has been welcomed before, however often they do.
alter table list_members add column rejoined boolean not null default false;

-- What an event told stays with the event: fifty automations may follow it, and it may be large.
alter table automation_runs alter column context drop not null;

create or replace function start_list_automations() returns trigger language plpgsql as $$
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
         a.key_id, case when n.added_in_test then 'test' else a.mode end, n.added_at
    from changed n
    join automations a on a.account_id = n.account_id and a.list_id = n.list_id
     and a.status = 'active' and a.trigger_type = 'list_addition'
    join contacts c on c.account_id = n.account_id and c.id = n.contact_id
   cross join lateral (select schedule_of(a.offsets, n.added_at) as schedule) s
   where not n.rejoined
     and c.email is not null
     and c.status = 'subscribed';
  return null;
end $$;
