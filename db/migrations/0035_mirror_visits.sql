-- Visits of the page of a message are counted for its campaign.
create index message_events_mirror_idx on message_events (account_id, (data ->> 'campaign_id')) where type = 'mirror';
