-- What a campaign was counted with against cap and quota when it was started. Its recipients are counted exactly when
-- they are written down; this is given back then, or when it does not come to that. Without a reference to the
-- campaign: what is deleted gives back as well.
create table campaign_reservations (
  account_id  bigint not null,
  campaign_id bigint not null,
  key_id      uuid not null,
  count       int not null,
  -- Of which day and month it was taken.
  at          timestamptz not null,
  primary key (account_id, campaign_id)
);
