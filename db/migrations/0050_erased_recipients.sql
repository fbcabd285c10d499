-- A campaign's figures keep the messages of erased people, but there is nothing left of these that could be listed:
-- erased.delivered and the like count them, by the state that they are counted in. One that had not left yet never
-- will.
create or replace function count_erased_message() returns trigger language plpgsql as $$
declare
  is_waiting constant boolean := old.status in ('queued', 'held');
begin
  insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
  select old.account_id, counted_day(old.scheduled_at, old.created_at), old.campaign_id, 0, '', '', s.name, s.n
    from (values ('status.' || old.status, -1, is_waiting),
                 ('status.cancelled', 1, is_waiting),
                 ('erased.' || case when is_waiting then 'cancelled' else old.status end, 1, true))
         as s (name, n, is_so)
   where s.is_so;
  return null;
end $$;

drop trigger messages_deleted on messages;
create trigger messages_deleted after delete on messages for each row
  when (old.campaign_id is not null) execute function count_erased_message();

-- Those of before: what is counted and not there, in accounts that erased somebody.
insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
select account_id, day, campaign_id, 0, '', '', 'erased.' || status, sum(n)
  from (select account_id, day, campaign_id, substr(name, 8) as status, n
          from message_counts
         where name like 'status.%'
        union all
        select account_id, day, campaign_id, substr(name, 8), n
          from message_count_changes
         where name like 'status.%'
        union all
        select account_id, counted_day(scheduled_at, created_at), campaign_id, status, -1
          from messages
         where campaign_id is not null
           and account_id in (select account_id from suppressions where source = 'erasure')) both_sides
 where account_id in (select account_id from suppressions where source = 'erasure')
 group by 1, 2, 3, 7
having sum(n) > 0;
