-- How many conversions of which type a campaign brought: sign-ups have no amount and stand in no sum.
create index conversions_campaign_idx on conversions (account_id, campaign_id, type) where campaign_id is not null;
