-- What left a state and what came to one are added up apart, and what stayed cancels out: joining the two tables of
-- changed rows took the square of their number where hash joins are off.
create or replace function count_campaign_states() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from became where campaign_id is not null) then return null; end if;
  insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
  select account_id, counted_day(scheduled_at, created_at), campaign_id, 0, '', '', 'status.' || status, sum(n)
    from (select account_id, scheduled_at, created_at, campaign_id, status, -1 as n
            from was
           where campaign_id is not null
          union all
          select account_id, scheduled_at, created_at, campaign_id, status, 1
            from became
           where campaign_id is not null) moved
   group by 1, 2, 3, 7
  having sum(n) <> 0;
  return null;
end $$;
