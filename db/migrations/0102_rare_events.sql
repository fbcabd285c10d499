-- Who asks for bounces alone need not read past the deliveries and opens, which are nearly all there is.
create index message_events_rare_idx on message_events (account_id, at, id)
  where type not in ('sent', 'delivery', 'open') and of_campaign is not true;
