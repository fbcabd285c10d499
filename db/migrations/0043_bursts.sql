-- A click that was taken for a person's turns out to be the first of a burst: it is a machine's like the others, and
-- the counts follow. One that came through a gateway's own warning page stays a person's. Whoever calls holds the
-- message's row, so that the clicks of a message take turns.
create function mark_burst(of_account bigint, of_message uuid, since timestamptz) returns void language plpgsql as $$
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
         coalesce(s.list_id, 0), coalesce(s.tag, ''), coalesce(s.consent_source, ''), k.name, k.n
    from seen s
   cross join lateral (
         select name, n from seen_names(s.was, s.is_now)
         union all values ('clicks.human', -marked), ('clicks.robot', marked)) k;
end $$;
