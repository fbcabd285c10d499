-- Reports on SMS read counts as those on mail do, in the same tables: sms.requests, sms.delivered and so on.
create function count_sms_events() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into report_count_changes (account_id, tag, day, name, prev, n)
  select m.account_id, t.tag, utc_day(e.at), 'sms.' || e.type, '-infinity', count(*)
    from told e
    join sms_messages m on m.id = e.message_id
   cross join lateral report_tags(m.tags) as t (tag)
   group by 1, 2, 3, 4;
  return null;
end $$;

create trigger sms_events_counted after insert on sms_events referencing new table as told
  for each statement execute function count_sms_events();

create function count_sms_requests() returns trigger language plpgsql as $$
begin
  insert into report_count_changes (account_id, tag, day, name, prev, n)
  select m.account_id, t.tag, utc_day(m.created_at), 'sms.requests', '-infinity', count(*)
    from made m
   cross join lateral report_tags(m.tags) as t (tag)
   group by 1, 2, 3;
  return null;
end $$;

create trigger sms_messages_counted after insert on sms_messages referencing new table as made
  for each statement execute function count_sms_requests();

-- What was told until now.
insert into report_count_changes (account_id, tag, day, name, prev, n)
select r.account_id, t.tag, r.day, r.name, '-infinity', sum(r.n)
  from (select m.account_id, m.tags, utc_day(e.at) as day, 'sms.' || e.type as name, count(*) as n
          from sms_events e
          join sms_messages m on m.id = e.message_id
         group by 1, 2, 3, 4
        union all
        select account_id, tags, utc_day(created_at), 'sms.requests', count(*) from sms_messages group by 1, 2, 3) r
 cross join lateral report_tags(r.tags) as t (tag)
 group by 1, 2, 3, 4;
