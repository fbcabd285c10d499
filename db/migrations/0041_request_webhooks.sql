-- A request is told when the message is accepted, whatever becomes of it: not when the upstream takes it.
update webhooks
   set told_of = array_replace(told_of, 'sent', 'accepted')
 where type = 'transactional';

create or replace function webhook_word(type text, data jsonb, is_first boolean, events text[]) returns text
language sql immutable
  return case type
    when 'delivery' then case when 'delivered' = any(events) then 'delivered' end
    when 'bounce' then case
      when data ->> 'class' in ('bad_address', 'unknown_host', 'no_mail_host') and 'invalid' = any(events)
        then 'invalid_email'
      when data ->> 'bounce_type' = 'hard' then case when 'hardBounce' = any(events) then 'hard_bounce' end
      when 'softBounce' = any(events) then 'soft_bounce'
    end
    when 'deferred' then case when 'deferred' = any(events) then 'deferred' end
    when 'blocked' then case when 'blocked' = any(events) then 'blocked' end
    when 'complaint' then case when 'spam' = any(events) then 'spam' end
    when 'click' then case when 'click' = any(events) then 'click' end
    when 'unsubscribe' then case when 'unsubscribed' = any(events) then 'unsubscribed' end
    when 'open' then case
      when is_first and 'uniqueOpened' = any(events)
        then case data ->> 'classification' when 'privacy_proxy' then 'unique_proxy_open' else 'unique_opened' end
      when 'opened' = any(events)
        then case data ->> 'classification' when 'privacy_proxy' then 'proxy_open' else 'opened' end
    end
  end;

-- As with events, an account without such webhooks costs the first question only.
create function queue_request_webhooks() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if not exists (select 1
                   from (select distinct account_id from made where campaign_id is null) t
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
   where m.campaign_id is null;
  return null;
end $$;

create trigger messages_queued after insert on messages referencing new table as made
  for each statement execute function queue_request_webhooks();
