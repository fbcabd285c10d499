-- All tags of a message are found and counted, and mail about a campaign to those who make it is not: tests and reports
-- are no campaign and no transactional mail.
create function is_to_authors(source text, campaign_id bigint) returns boolean language sql immutable
  return source = 'campaign' and campaign_id is null;

-- Those after the first, each once.
create function also_tags(tags text[]) returns text[] language sql immutable
  return array(select distinct tag from unnest(tags[2:]) as tag where tag <> tags[1]);

-- The tags after the first, which stands in the row of the message: most messages have one or none.
create table message_tags (
  account_id bigint not null,
  tag        text not null,
  message_id uuid not null,
  primary key (account_id, tag, message_id)
);

insert into message_tags (account_id, tag, message_id)
select m.account_id, t.tag, m.id
  from messages m
 cross join lateral unnest(also_tags(m.tags)) as t (tag)
 where cardinality(m.tags) > 1;

-- Cheaper than a foreign key, which asks at every insertion.
create function drop_message_tags() returns trigger language plpgsql as $$
begin
  delete from message_tags
   where account_id = old.account_id and tag = any(also_tags(old.tags)) and message_id = old.id;
  return null;
end $$;

create trigger messages_untagged after delete on messages for each row
  when (cardinality(old.tags) > 1) execute function drop_message_tags();

-- In message_counts the names also.sent and the like count messages by the tags after their first: whoever asks for a
-- tag adds them, all others leave them out.
create or replace function count_message_events() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  with named as materialized (
    select m.account_id, counted_day(m.scheduled_at, m.created_at) as day,
           counted_campaign(m.campaign_id, m.stream) as campaign_id, coalesce(m.list_id, 0) as list_id,
           coalesce(m.tag, '') as tag, case when cardinality(m.tags) > 1 then also_tags(m.tags) end as also,
           coalesce(m.consent_source, '') as consent_source, m.recipient, t.name,
           case t.name when 'sent' then 1 else t.n end as n
      from (select message_id, event_name(type, data) as name, count(*) as n
              from told
             where type in ('sent', 'bounce', 'deferred', 'open', 'click')
             group by 1, 2) t
      join messages m on m.id = t.message_id
     where not is_to_authors(m.source, m.campaign_id)
       -- Only where nothing was known of it before these.
       and (t.name <> 'sent'
            or t.n = (select count(*)
                        from message_events p
                       where p.message_id = t.message_id and p.type in ('sent', 'bounce')))),
  counted as (
    insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
    select account_id, day, campaign_id, list_id, tag, consent_source, name, sum(n)
      from (select account_id, day, campaign_id, list_id, tag, consent_source, name, n from named
            union all
            select account_id, day, campaign_id, list_id, t.tag, consent_source, 'also.' || name, n
              from named
             cross join lateral unnest(also) as t (tag)
             where also is not null) every_tag
     group by 1, 2, 3, 4, 5, 6, 7)
  insert into domain_count_changes (account_id, day, recipient_domain, name, n)
  select account_id, day, split_part(recipient, '@', -1), name, sum(n)
    from named
   where name = 'sent'
   group by 1, 2, 3, 4;

  if not exists (select 1 from told where type not in ('sent', 'deferred')) then return null; end if;

  with locked as materialized (
    select m.id, m.seen as was, m.seen | b.bits as is_now
      from (select message_id, bit_or(seen_bit(type, data)) as bits from told group by 1) b
      join messages m on m.id = b.message_id
     where m.seen | b.bits <> m.seen
     order by m.id
       for no key update of m),
  marked as (
    update messages m
       set seen = l.is_now
      from locked l
     where m.id = l.id
    returning m.account_id, counted_day(m.scheduled_at, m.created_at) as day,
              counted_campaign(m.campaign_id, m.stream) as campaign_id, coalesce(m.list_id, 0) as list_id,
              coalesce(m.tag, '') as tag, case when cardinality(m.tags) > 1 then also_tags(m.tags) end as also,
              coalesce(m.consent_source, '') as consent_source, m.recipient,
              is_to_authors(m.source, m.campaign_id) as is_apart, l.was, l.is_now),
  named as materialized (
    select k.*, s.name, s.n
      from marked k
     cross join lateral seen_names(k.was, k.is_now) s
     where not k.is_apart),
  counted as (
    insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
    select account_id, day, campaign_id, list_id, tag, consent_source, name, sum(n)
      from (select account_id, day, campaign_id, list_id, tag, consent_source, name, n from named
            union all
            select account_id, day, campaign_id, list_id, t.tag, consent_source, 'also.' || name, n
              from named
             cross join lateral unnest(also) as t (tag)
             where also is not null) every_tag
     group by 1, 2, 3, 4, 5, 6, 7
    having sum(n) <> 0)
  insert into domain_count_changes (account_id, day, recipient_domain, name, n)
  select account_id, day, split_part(recipient, '@', -1), name, sum(n)
    from named
   where name in ('delivered', 'hard_bounces', 'soft_bounces', 'complaints')
   group by 1, 2, 3, 4;
  return null;
end $$;

-- A message under each of its tags, and what its counts are called there.
create function counted_tags(tag text, tags text[]) returns table (tag text, prefix text) language sql immutable
begin atomic
  select coalesce(counted_tags.tag, ''), ''
  union all
  select t.tag, 'also.' from unnest(case when cardinality(tags) > 1 then also_tags(tags) end) as t (tag);
end;

create or replace function mark_burst(of_account bigint, of_message uuid, since timestamptz) returns void
language plpgsql as $$
declare
  marked integer;
begin
  update message_events
     set data = data || '{"classification": "robot", "classification_reason": "many_links_at_once"}'
   where account_id = of_account
     and message_id = of_message
     and type = 'click'
     and at >= since
     and data ->> 'classification' = 'human'
     and data ->> 'classification_reason' is distinct from 'link_gateway';
  get diagnostics marked = row_count;
  if marked = 0 then return; end if;

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
         union all values ('clicks.human', -marked), ('clicks.robot', marked)) k
   where not is_to_authors(s.source, s.campaign_id);
end $$;

create or replace function recount_messages() returns void language plpgsql as $$
begin
  truncate message_counts, message_count_changes, domain_counts, domain_count_changes;
  update messages m
     set seen = b.bits
    from (select message_id, bit_or(seen_bit(type, data)) as bits from message_events group by 1) b
   where m.id = b.message_id
     and m.seen <> b.bits;
  create temporary table recounted on commit drop as
  select m.account_id, counted_day(m.scheduled_at, m.created_at) as day,
         counted_campaign(m.campaign_id, m.stream) as campaign_id,
         case when c.is_state then 0 else coalesce(m.list_id, 0) end as list_id,
         t.tag, case when c.is_state then '' else coalesce(m.consent_source, '') end as consent_source,
         split_part(m.recipient, '@', -1) as recipient_domain, t.prefix || c.name as name, sum(c.n) as n
    from (select message_id, name, case name when 'sent' then 1 else count(*) end as n, false as is_state
            from (select message_id, event_name(type, data) as name from message_events) e
           where name is not null
           group by 1, 2
          union all
          select m.id, s.name, s.n, false
            from messages m
           cross join lateral seen_names(0::smallint, m.seen) s
           where m.seen <> 0
          union all
          select id, 'status.' || status, 1, true from messages where campaign_id is not null) c
    join messages m on m.id = c.message_id
   cross join lateral counted_tags(case when c.is_state then '' else m.tag end,
                                   case when c.is_state then '{}' else m.tags end) t
   where not is_to_authors(m.source, m.campaign_id)
   group by 1, 2, 3, 4, 5, 6, 7, 8;
  insert into message_counts
  select account_id, day, campaign_id, list_id, tag, consent_source, name, sum(n)
    from recounted
   group by 1, 2, 3, 4, 5, 6, 7;
  insert into domain_counts
  select account_id, day, recipient_domain, name, sum(n)
    from recounted
   where name in ('sent', 'delivered', 'hard_bounces', 'soft_bounces', 'complaints')
   group by 1, 2, 3, 4;
  drop table recounted;
end $$;

-- What was counted until now. Not by a recount: what is counted of erased people would be lost.
with figures as materialized (
  select m.account_id, counted_day(m.scheduled_at, m.created_at) as day,
         counted_campaign(m.campaign_id, m.stream) as campaign_id, coalesce(m.list_id, 0) as list_id, t.tag,
         coalesce(m.consent_source, '') as consent_source, split_part(m.recipient, '@', -1) as recipient_domain,
         t.prefix || f.name as name, case when is_to_authors(m.source, m.campaign_id) then -f.n else f.n end as n
    from (select * from messages where is_to_authors(source, campaign_id) or cardinality(tags) > 1 offset 0) m
   cross join lateral counted_tags(m.tag, m.tags) t
   cross join lateral (
         select name, case name when 'sent' then 1 else count(*) end as n
           from (select event_name(e.type, e.data) as name from message_events e where e.message_id = m.id) e
          where name is not null
          group by 1
         union all
         select name, n from seen_names(0::smallint, m.seen)) f
   where is_to_authors(m.source, m.campaign_id) = (t.prefix = '')),
counted as (
  insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
  select account_id, day, campaign_id, list_id, tag, consent_source, name, sum(n)
    from figures
   group by 1, 2, 3, 4, 5, 6, 7)
insert into domain_count_changes (account_id, day, recipient_domain, name, n)
select account_id, day, recipient_domain, name, sum(n)
  from figures
 where name in ('sent', 'delivered', 'hard_bounces', 'soft_bounces', 'complaints')
 group by 1, 2, 3, 4;

create or replace function queue_message_webhooks() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if not exists (select 1
                   from (select distinct account_id, type from told) t
                   join webhooks w on w.account_id = t.account_id
                    and w.disabled_at is null and t.type = any(w.told_of)) then
    return null;
  end if;
  insert into webhook_queue (webhook_id, id, account_id, event, message_id, event_id, created_at, due_at)
  select w.id, ordered_uuid(floor(extract(epoch from now_ms.at) * 1000)::bigint, row_number() over (order by e.id, w.id)),
         w.account_id,
         case when w.type = 'marketing' and e.type = 'unsubscribe' then 'unsubscribe' else k.word end,
         e.message_id, e.id, now_ms.at, now_ms.at
    from (select t.id, t.account_id, t.message_id, t.type, t.data,
                 case when m.campaign_id is null then 'transactional' else 'marketing' end as told_to,
                 t.type = 'open' and t.data ->> 'classification' is distinct from 'robot' and not exists (
                   select 1
                     from message_events p
                    where p.message_id = t.message_id
                      and p.type = 'open'
                      and p.data ->> 'classification' is not distinct from t.data ->> 'classification'
                      and (p.id < t.id or not exists (select 1 from told o where o.id = p.id))) as is_first
            from told t
            join messages m on m.id = t.message_id
           where not is_to_authors(m.source, m.campaign_id)) e
    join webhooks w on w.account_id = e.account_id
     and w.disabled_at is null and w.type = e.told_to and e.type = any(w.told_of)
   cross join lateral (select webhook_word(e.type, e.data, e.is_first, w.events) as word) k
   cross join (select clock_timestamp() as at) now_ms
   where k.word is not null;
  return null;
end $$;

create or replace function queue_request_webhooks() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if not exists (select 1
                   from (select distinct account_id
                           from made
                          where campaign_id is null and not is_to_authors(source, campaign_id)) t
                   join webhooks w on w.account_id = t.account_id
                    and w.disabled_at is null and w.type = 'transactional' and 'accepted' = any(w.told_of)) then
    return null;
  end if;
  insert into webhook_queue (webhook_id, id, account_id, event, message_id, created_at, due_at)
  select w.id, ordered_uuid(floor(extract(epoch from now_ms.at) * 1000)::bigint, row_number() over (order by m.id, w.id)),
         w.account_id, 'request', m.id, now_ms.at, now_ms.at
    from made m
    join webhooks w on w.account_id = m.account_id
     and w.disabled_at is null and w.type = 'transactional' and 'accepted' = any(w.told_of)
   cross join (select clock_timestamp() as at) now_ms
   where m.campaign_id is null
     and not is_to_authors(m.source, m.campaign_id);
  return null;
end $$;
