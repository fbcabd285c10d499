-- A million contacts are counted a portion at a time, so that whoever writes contacts never waits for all of them.
alter table counted_attributes
  -- The contact up to which the attribute is counted; null: all of them, and every new one.
  add column done_to bigint;

create index counted_attributes_begun_idx on counted_attributes (account_id) where done_to is not null;

-- As before, of contacts that are counted already: the others are counted as they are when their portion comes.
create or replace function count_attribute_values() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(attribute_counts_lock(a.account_id))
     from (select distinct account_id from changed) a;
  insert into attribute_count_changes (account_id, name, value, contacts)
  select c.account_id, a.name, c.attributes -> a.name, case when tg_op = 'INSERT' then count(*) else -count(*) end
    from changed c
    join counted_attributes a on a.account_id = c.account_id and (a.done_to is null or c.id <= a.done_to)
   group by 1, 2, 3;
  return null;
end $$;

create or replace function recount_attribute_values() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(attribute_counts_lock(a.account_id))
     from (select distinct account_id from is_now) a;
  insert into attribute_count_changes (account_id, name, value, contacts)
  select c.account_id, a.name, c.attributes -> a.name, sum(c.n)
    from (select account_id, id, attributes, 1 as n from is_now
           union all
          select account_id, id, attributes, -1 from was) c
    join counted_attributes a on a.account_id = c.account_id and (a.done_to is null or c.id <= a.done_to)
   group by 1, 2, 3
  having sum(c.n) <> 0;
  return null;
end $$;
