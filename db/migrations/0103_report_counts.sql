-- What reports on transactional mail tell, by the UTC day on which it happened, added up as it happens, so that a report
-- costs the same however much mail there was. As with message_counts, writers append changes, a job folds them in, and
-- whoever reads adds both in one statement. What was counted stays when the message is erased.
create table report_counts (
  account_id bigint not null,
  -- '': whatever the tags. A message counts there and under each of its tags.
  tag        text not null,
  day        date not null,
  -- As reports call it: requests, delivered, opened and so on; opened.robot and clicks.robot are those of machines.
  -- unique.7: messages opened or clicked on that day in a way that is among these bits of messages.seen.
  name       text not null,
  -- The day before on which the same message was: whoever adds up several days counts it on the first of them only.
  prev       date not null,
  n          bigint not null,
  primary key (account_id, tag, day, name, prev)
) with (fillfactor = 70);

create table report_count_changes (
  account_id bigint not null,
  tag        text not null,
  day        date not null,
  name       text not null,
  prev       date not null,
  n          bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create function utc_day(at timestamptz) returns date language sql immutable return (at at time zone 'UTC')::date;

-- The provider's words. A request is the acceptance, which the message itself tells.
create function report_word(type text, data jsonb) returns text language sql immutable
  return case type
    when 'delivery' then 'delivered'
    when 'bounce' then case data ->> 'bounce_type' when 'hard' then 'hardBounces' else 'softBounces' end
    when 'complaint' then 'spam'
    when 'click' then 'clicks'
    when 'open' then case data ->> 'classification' when 'privacy_proxy' then 'loadedByProxy' else 'opened' end
    when 'unsubscribe' then 'unsubscribed'
    else type
  end;

create function report_name(type text, data jsonb) returns text language sql immutable
  return report_word(type, data) || case data ->> 'classification' when 'robot' then '.robot' else '' end;

create function is_reported(type text) returns boolean language sql immutable
  return type in ('delivery', 'bounce', 'complaint', 'click', 'open', 'unsubscribe', 'blocked');

create function report_tags(tags text[]) returns setof text language sql immutable
begin atomic
  select '' union select t.tag from unnest(tags) as t (tag) where t.tag is not null;
end;

-- Which of the bits of messages.seen the filters of an account leave: of opens those of people, of proxies, of robots; of
-- clicks likewise.
create function report_filters() returns setof integer language sql immutable
begin atomic
  values (1), (3), (5), (7), (24), (56);
end;

-- Changed events count among the days of their messages from now on, where before they were told by other bits, or by
-- none. Whoever calls has locked the messages.
create function count_unique_days(of_messages uuid[], changed uuid[], bits_before integer) returns void
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  with seen as materialized (
    select e.message_id, utc_day(e.at) as day, seen_bit(e.type, e.data) as bits,
           case when e.id = any(changed) then bits_before else seen_bit(e.type, e.data) end as were
      from message_events e
     where e.message_id = any(of_messages) and e.type in ('open', 'click')),
  days as materialized (
    select message_id, day, f.bits, bool_or(s.bits & f.bits <> 0) as is_now, bool_or(s.were & f.bits <> 0) as was
      from seen s
     cross join report_filters() as f (bits)
     where (s.bits | s.were) & f.bits <> 0
     group by 1, 2, 3),
  pairs as (
    select message_id, bits, day, lag(day, 1, '-infinity') over of_message as prev, 1 as n
      from days
     where is_now
    window of_message as (partition by message_id, bits order by day)
     union all
    select message_id, bits, day, lag(day, 1, '-infinity') over of_message, -1
      from days
     where was
    window of_message as (partition by message_id, bits order by day))
  insert into report_count_changes (account_id, tag, day, name, prev, n)
  select m.account_id, t.tag, p.day, 'unique.' || p.bits, p.prev, sum(p.n)
    from pairs p
    join messages m on m.id = p.message_id
   cross join lateral report_tags(m.tags) as t (tag)
   group by 1, 2, 3, 4, 5
  having sum(p.n) <> 0;
end $$;

create function count_reported_events() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  seen uuid[];
  new_ids uuid[];
begin
  if not exists (select 1 from told where of_campaign is not true and is_reported(type)) then return null; end if;

  insert into report_count_changes (account_id, tag, day, name, prev, n)
  select m.account_id, t.tag, e.day, e.name, '-infinity', sum(e.n)
    from (select message_id, utc_day(at) as day, report_name(type, data) as name, count(*) as n
            from told
           where of_campaign is not true and is_reported(type)
           group by 1, 2, 3) e
    join messages m on m.id = e.message_id
   cross join lateral report_tags(m.tags) as t (tag)
   where m.source <> 'campaign'
   group by 1, 2, 3, 4;

  select array_agg(distinct m.id) into seen
    from told t
    join messages m on m.id = t.message_id
   where t.of_campaign is not true and t.type in ('open', 'click') and m.source <> 'campaign';
  if seen is null then return null; end if;

  -- All that this statement will want, in one order, so that two writers never wait for each other. What others wrote of
  -- these messages up to here is seen by the next one.
  perform 1
     from messages
    where id in (select message_id from told where type not in ('sent', 'deferred'))
    order by id
      for no key update;

  -- Those of which something is new on its day: a picture may be loaded a million times.
  new_ids := array(select id from told);
  select array_agg(distinct t.message_id) into seen
    from (select distinct message_id, seen_bit(type, data) as bit, utc_day(at) as day
            from told
           where type in ('open', 'click') and message_id = any(seen)) t
   where not exists (
         select 1
           from message_events p
          where p.message_id = t.message_id
            and p.type in ('open', 'click')
            and p.of_campaign is not true
            and seen_bit(p.type, p.data) = t.bit
            and p.at >= t.day at time zone 'UTC'
            and p.at < (t.day + 1) at time zone 'UTC'
            and p.id <> all(new_ids));
  if seen is not null then perform count_unique_days(seen, new_ids, 0); end if;
  return null;
end $$;

create index message_events_seen_idx on message_events (message_id, seen_bit(type, data), at)
  where type in ('open', 'click') and of_campaign is not true;

-- By its name it runs before the one that locks only some of the messages.
create trigger message_events_counted after insert on message_events referencing new table as told
  for each statement execute function count_reported_events();

create function count_requests() returns trigger language plpgsql as $$
begin
  insert into report_count_changes (account_id, tag, day, name, prev, n)
  select m.account_id, t.tag, utc_day(m.created_at), 'requests', '-infinity', count(*)
    from made m
   cross join lateral report_tags(m.tags) as t (tag)
   where m.source <> 'campaign'
   group by 1, 2, 3;
  return null;
end $$;

create trigger messages_counted after insert on messages referencing new table as made
  for each statement execute function count_requests();

-- As before, and the days are counted as well.
create or replace function mark_burst(of_account bigint, of_message uuid, since timestamptz) returns void
language plpgsql as $$
declare
  marked uuid[];
begin
  with judged as (
    update message_events
       set data = data || '{"classification": "robot", "classification_reason": "many_links_at_once"}'
     where account_id = of_account
       and message_id = of_message
       and type = 'click'
       and at >= since
       and data ->> 'classification' = 'human'
       and data ->> 'classification_reason' is distinct from 'link_gateway'
    returning id)
  select array_agg(id) into marked from judged;
  if marked is null then return; end if;

  with held as materialized (
    select m.id, m.seen as was,
           ((m.seen & ~8) | 32 | coalesce((select bit_or(seen_bit(e.type, e.data))
                                             from message_events e
                                            where e.account_id = of_account
                                              and e.message_id = of_message
                                              and e.type = 'click'), 0))::smallint as is_now
      from messages m
     where m.account_id = of_account and m.id = of_message
  ), seen as (
    update messages m
       set seen = h.is_now
      from held h
     where m.account_id = of_account and m.id = h.id
    returning m.*, h.was, h.is_now)
  insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
  select s.account_id, counted_day(s.scheduled_at, s.created_at), counted_campaign(s.campaign_id, s.stream),
         coalesce(s.list_id, 0), t.tag, coalesce(s.consent_source, ''), t.prefix || k.name, k.n
    from seen s
   cross join lateral counted_tags(s.tag, s.tags) t
   cross join lateral (
         select name, n from seen_names(s.was, s.is_now)
         union all values ('clicks.human', -cardinality(marked)), ('clicks.robot', cardinality(marked))) k
   where not is_to_authors(s.source, s.campaign_id);

  if not exists (select 1 from messages where id = of_message and source <> 'campaign') then return; end if;
  insert into report_count_changes (account_id, tag, day, name, prev, n)
  select of_account, t.tag, utc_day(e.at), k.name, '-infinity', k.n
    from message_events e
    join messages m on m.id = e.message_id
   cross join lateral report_tags(m.tags) as t (tag)
   cross join (values ('clicks', -1), ('clicks.robot', 1)) as k (name, n)
   where e.account_id = of_account and e.message_id = of_message and e.id = any(marked);
  perform count_unique_days(array[of_message], marked, 8);
end $$;

-- Everything again from the messages and events that there are.
create function recount_reports() returns void language plpgsql as $$
begin
  truncate report_counts, report_count_changes;
  perform gather_reported();
  perform count_reported();
end $$;

create function gather_reported() returns void language plpgsql as $$
begin
  create temporary table reported on commit drop as
  select m.account_id, m.tags, m.id as message_id, utc_day(e.at) as day, report_name(e.type, e.data) as name,
         seen_bit(e.type, e.data)::integer as bits
    from message_events e
    join messages m on m.id = e.message_id
   where is_reported(e.type)
     and e.of_campaign is not true
     and m.source <> 'campaign'
  union all
  select account_id, tags, id, utc_day(created_at), 'requests', 0 from messages where source <> 'campaign';
end $$;

create function count_reported() returns void language plpgsql as $$
begin
  insert into report_counts (account_id, tag, day, name, prev, n)
  select r.account_id, t.tag, r.day, r.name, '-infinity', sum(r.n)
    from (select account_id, tags, day, name, count(*) as n from reported group by 1, 2, 3, 4) r
   cross join lateral report_tags(r.tags) as t (tag)
   group by 1, 2, 3, 4
  union all
  select p.account_id, t.tag, p.day, 'unique.' || p.bits, p.prev, sum(p.n)
    from (select account_id, tags, day, bits, prev, count(*) as n
            from (select account_id, tags, bits, day,
                         lag(day, 1, '-infinity') over (partition by message_id, bits order by day) as prev
                    from (select distinct r.account_id, r.tags, r.message_id, f.bits, r.day
                            from reported r
                           cross join report_filters() as f (bits)
                           where r.bits & f.bits <> 0) days) each_day
           group by 1, 2, 3, 4, 5) p
   cross join lateral report_tags(p.tags) as t (tag)
   group by 1, 2, 3, 4, 5;
  drop table reported;
end $$;

-- What was told until now, with what was kept of erased people, which needs no table of its own any more.
select gather_reported();
insert into reported
select account_id, tags, mark, day, word || case when is_robot then '.robot' else '' end,
       case word when 'opened' then case when is_robot then 4 else 1 end
                 when 'loadedByProxy' then 2
                 when 'clicks' then case when is_robot then 32 else 8 end
                 else 0 end
  from erased_reports;
select count_reported();
drop table erased_reports;
