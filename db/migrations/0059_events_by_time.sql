-- Reports of transactional mail read events in the order of their time. Those of a campaign, which are written by the
-- hundred thousand, stay out of the index; null stands for what was written before and is asked of its message.
alter table message_events add column of_campaign boolean;
create index message_events_at_idx on message_events (account_id, at, id)
  where type <> 'sent' and of_campaign is not true;
