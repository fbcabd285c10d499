-- How many contacts have which value, for the attributes that segments ask about: counting a segment of a million
-- contacts by looking at each of them takes longer than anybody waits.
create table counted_attributes (
  account_id bigint not null,
  name       text not null,
  primary key (account_id, name)
);

create table attribute_counts (
  account_id bigint not null,
  name       text not null,
  -- Of the value, which may be too long for an index.
  hash       uuid not null,
  -- null: of those who have none.
  value      jsonb,
  contacts   bigint not null,
  primary key (account_id, name, hash)
) with (fillfactor = 70);

create index attribute_counts_zero_idx on attribute_counts (account_id) where contacts = 0;

-- Only added to, so that nobody waits for another's commit; a job folds it into the counts.
create table attribute_count_changes (
  account_id bigint not null,
  name       text not null,
  value      jsonb,
  contacts   bigint not null
);

create index attribute_count_changes_idx on attribute_count_changes (account_id, name);

-- Writers of contacts hold it together; whoever begins to count an attribute waits for them and keeps new ones out.
create function attribute_counts_lock(account_id bigint) returns bigint language sql immutable as $$
  select hashtextextended('attribute counts', account_id)
$$;

create function count_attribute_values() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(attribute_counts_lock(a.account_id))
     from (select distinct account_id from changed) a;
  insert into attribute_count_changes (account_id, name, value, contacts)
  select c.account_id, a.name, c.attributes -> a.name, case when tg_op = 'INSERT' then count(*) else -count(*) end
    from changed c
    join counted_attributes a on a.account_id = c.account_id
   group by 1, 2, 3;
  return null;
end $$;

create function recount_attribute_values() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(attribute_counts_lock(a.account_id))
     from (select distinct account_id from is_now) a;
  insert into attribute_count_changes (account_id, name, value, contacts)
  select c.account_id, a.name, c.attributes -> a.name, sum(c.n)
    from (select account_id, attributes, 1 as n from is_now
           union all
          select account_id, attributes, -1 from was) c
    join counted_attributes a on a.account_id = c.account_id
   group by 1, 2, 3
  having sum(c.n) <> 0;
  return null;
end $$;

create trigger contacts_values_inserted after insert on contacts referencing new table as changed
  for each statement execute function count_attribute_values();
create trigger contacts_values_deleted after delete on contacts referencing old table as changed
  for each statement execute function count_attribute_values();
create trigger contacts_values_updated after update on contacts referencing old table as was new table as is_now
  for each statement execute function recount_attribute_values();

insert into counted_attributes (account_id, name)
select distinct account_id, attribute from segments where attribute not in ('EMAIL', 'SMS');

insert into attribute_counts (account_id, name, hash, value, contacts)
select c.account_id, a.name, md5(coalesce((c.attributes -> a.name)::text, ''))::uuid, c.attributes -> a.name, count(*)
  from contacts c
  join counted_attributes a on a.account_id = c.account_id
 group by 1, 2, 4;
