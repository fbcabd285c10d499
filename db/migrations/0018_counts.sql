-- What statistics tell, added up as events arrive, so that reading them costs the same however many messages there are.
-- Writers only append changes; a job folds them into the counts. Whoever reads adds both, in one statement.
create table message_counts (
  account_id     bigint not null,
  -- The UTC day that the message was to leave on: everything that became of it counts for that day.
  day            date not null,
  -- 0: transactional mail; -1: other mail that belongs to no campaign.
  campaign_id    bigint not null,
  list_id        bigint not null,
  tag            text not null,
  consent_source text not null,
  -- sent (taken or refused), delivered, bounced, hard_bounces, soft_bounces, complaints, unsubscriptions and blocked:
  -- messages.
  -- deferred, opens.human, clicks.robot and the like: events.
  -- seen.9: messages whose kinds of opens and clicks are these bits of messages.seen and no others.
  -- status.queued and the like: messages of a campaign that are in this state.
  name           text not null,
  n              bigint not null,
  primary key (account_id, day, campaign_id, list_id, tag, consent_source, name)
) with (fillfactor = 70);

create index message_counts_campaign_idx on message_counts (account_id, campaign_id) where campaign_id > 0;

create table message_count_changes (
  account_id     bigint not null,
  day            date not null,
  campaign_id    bigint not null,
  list_id        bigint not null,
  tag            text not null,
  consent_source text not null,
  name           text not null,
  n              bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create table domain_counts (
  account_id       bigint not null,
  day              date not null,
  recipient_domain text not null,
  -- sent, delivered, hard_bounces, soft_bounces, complaints.
  name             text not null,
  n                bigint not null,
  primary key (account_id, day, recipient_domain, name)
) with (fillfactor = 70);

create table domain_count_changes (
  account_id       bigint not null,
  day              date not null,
  recipient_domain text not null,
  name             text not null,
  n                bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create function counted_day(scheduled_at timestamptz, created_at timestamptz) returns date language sql immutable
  return (coalesce(scheduled_at, created_at) at time zone 'UTC')::date;

create function counted_campaign(campaign_id bigint, stream text) returns bigint language sql immutable
  return coalesce(campaign_id, case stream when 'transactional' then 0 else -1 end);

-- What an event says about its message once and for all, as a bit of messages.seen; 0 for what may happen again.
-- Opens 1 human, 2 privacy proxy, 4 robot; clicks 8, 16, 32.
create function seen_bit(type text, data jsonb) returns smallint language sql immutable
  return case type
    when 'open' then case data ->> 'classification' when 'robot' then 4 when 'privacy_proxy' then 2 else 1 end
    when 'click' then case data ->> 'classification' when 'robot' then 32 when 'privacy_proxy' then 16 else 8 end
    when 'delivery' then 64
    when 'bounce' then case data ->> 'bounce_type' when 'hard' then 128 else 256 end
    when 'complaint' then 512
    when 'unsubscribe' then 1024
    when 'blocked' then 2048
    else 0
  end::smallint;

-- What is counted of every event, however often. But a message is sent once: when it was first taken, or refused.
create function event_name(type text, data jsonb) returns text language sql immutable
  return case type
    when 'sent' then 'sent'
    when 'bounce' then 'sent'
    when 'deferred' then 'deferred'
    when 'open' then case data ->> 'classification'
      when 'robot' then 'opens.robot' when 'privacy_proxy' then 'opens.privacy_proxy' else 'opens.human' end
    when 'click' then case data ->> 'classification'
      when 'robot' then 'clicks.robot' when 'privacy_proxy' then 'clicks.privacy_proxy' else 'clicks.human' end
  end;

-- The names that count a message whose bits were these and are those now.
create function seen_names(was smallint, is_now smallint) returns table (name text, n integer) language sql immutable
begin atomic
  select v.name, 1
    from (values (64, 'delivered'), (384, 'bounced'), (128, 'hard_bounces'), (256, 'soft_bounces'),
                 (512, 'complaints'), (1024, 'unsubscriptions'), (2048, 'blocked')) as v (bits, name)
   where was & v.bits = 0 and is_now & v.bits <> 0
  union all
  select 'seen.' || (was & 63), -1 where was & 63 not in (0, is_now & 63)
  union all
  select 'seen.' || (is_now & 63), 1 where is_now & 63 not in (0, was & 63);
end;

-- Plans are made once for each connection, perhaps when the tables were empty: each row is to be found by its key
-- all the same.
create function count_message_events() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  with named as materialized (
    select m.account_id, counted_day(m.scheduled_at, m.created_at) as day,
           counted_campaign(m.campaign_id, m.stream) as campaign_id, coalesce(m.list_id, 0) as list_id,
           coalesce(m.tag, '') as tag, coalesce(m.consent_source, '') as consent_source, m.recipient, t.name,
           case t.name when 'sent' then 1 else t.n end as n
      from (select message_id, event_name(type, data) as name, count(*) as n
              from told
             where type in ('sent', 'bounce', 'deferred', 'open', 'click')
             group by 1, 2) t
      join messages m on m.id = t.message_id
     -- Only where nothing was known of it before these.
     where t.name <> 'sent'
        or t.n = (select count(*)
                    from message_events p
                   where p.message_id = t.message_id and p.type in ('sent', 'bounce'))),
  counted as (
    insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
    select account_id, day, campaign_id, list_id, tag, consent_source, name, sum(n)
      from named
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
              coalesce(m.tag, '') as tag, coalesce(m.consent_source, '') as consent_source, m.recipient,
              l.was, l.is_now),
  named as materialized (select k.*, s.name, s.n from marked k cross join lateral seen_names(k.was, k.is_now) s),
  counted as (
    insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
    select account_id, day, campaign_id, list_id, tag, consent_source, name, sum(n)
      from named
     group by 1, 2, 3, 4, 5, 6, 7
    having sum(n) <> 0)
  insert into domain_count_changes (account_id, day, recipient_domain, name, n)
  select account_id, day, split_part(recipient, '@', -1), name, sum(n)
    from named
   where name in ('delivered', 'hard_bounces', 'soft_bounces', 'complaints')
   group by 1, 2, 3, 4;
  return null;
end $$;

-- How many messages of a campaign are in each state. What state they are written in is told by whoever freezes them: a
-- million rows need not pass through a trigger for that.
create function count_campaign_states() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from became where campaign_id is not null) then return null; end if;
  insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
  select b.account_id, counted_day(b.scheduled_at, b.created_at), b.campaign_id, 0, '', '', s.name, sum(s.n)
    from became b
    join was w on w.id = b.id
   cross join lateral (values ('status.' || w.status, -1), ('status.' || b.status, 1)) as s (name, n)
   where b.campaign_id is not null
     and b.status <> w.status
   group by 1, 2, 3, 7
  having sum(s.n) <> 0;
  return null;
end $$;

-- The message of an erased person that had not left yet never will. The campaign's total stays.
create function count_erased_message() returns trigger language plpgsql as $$
begin
  insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
  select old.account_id, counted_day(old.scheduled_at, old.created_at), old.campaign_id, 0, '', '', s.name, s.n
    from (values ('status.' || old.status, -1), ('status.cancelled', 1)) as s (name, n);
  return null;
end $$;

-- Everything again from the messages and events that there are.
create function recount_messages() returns void language plpgsql as $$
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
         case when c.is_state then '' else coalesce(m.tag, '') end as tag,
         case when c.is_state then '' else coalesce(m.consent_source, '') end as consent_source,
         split_part(m.recipient, '@', -1) as recipient_domain, c.name, sum(c.n) as n
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

select recount_messages();

create trigger message_events_inserted after insert on message_events referencing new table as told
  for each statement execute function count_message_events();
create trigger messages_updated after update on messages referencing old table as was new table as became
  for each statement execute function count_campaign_states();
create trigger messages_deleted after delete on messages for each row
  when (old.campaign_id is not null and old.status in ('queued', 'held')) execute function count_erased_message();

-- What a campaign brought: purchases and sign-ups.
create table conversions (
  account_id    bigint not null references accounts (id),
  id            bigint generated always as identity unique,
  -- null: of a person who was erased. What they spent stays in the sums.
  email         text,
  type          text not null check (type in ('purchase', 'signup')),
  amount        numeric(20, 4),
  currency      text,
  at            timestamptz not null,
  -- The caller's own name for it: each counts once.
  external_id   text,
  campaign_id   bigint,
  attributed_by text check (attributed_by in ('explicit', 'click', 'delivery')),
  created_at    timestamptz not null,
  primary key (account_id, id),
  check ((amount is null) = (currency is null))
);

create unique index conversions_external_id_idx on conversions (account_id, external_id) where external_id is not null;
create index conversions_email_idx on conversions (account_id, email) where email is not null;

-- Their sums by UTC day and campaign (0: none), currencies apart.
create table conversion_sums (
  account_id  bigint not null,
  day         date not null,
  campaign_id bigint not null,
  currency    text not null,
  amount      numeric(24, 4) not null,
  n           bigint not null,
  primary key (account_id, day, campaign_id, currency)
) with (fillfactor = 70);

create index conversion_sums_campaign_idx on conversion_sums (account_id, campaign_id);

create function sum_conversion() returns trigger language plpgsql as $$
begin
  insert into conversion_sums as s (account_id, day, campaign_id, currency, amount, n)
  values (new.account_id, (new.at at time zone 'UTC')::date, coalesce(new.campaign_id, 0), new.currency, new.amount, 1)
  on conflict (account_id, day, campaign_id, currency) do update
     set amount = s.amount + excluded.amount, n = s.n + 1;
  return null;
end $$;

create trigger conversions_inserted after insert on conversions for each row
  when (new.amount is not null) execute function sum_conversion();
