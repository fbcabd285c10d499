-- What recipients did with a campaign is looked up message by message. Most events are of other kinds.
create index message_events_told_idx on message_events (message_id) where type in ('open', 'click', 'deferred');
