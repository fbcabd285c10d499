-- Lists of transactional mail need not read past the messages of campaigns, which may be a million a day.
create index messages_transactional_idx on messages (account_id, id) where source <> 'campaign';
