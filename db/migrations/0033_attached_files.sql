-- The file that every message made of a template carries, read when the message is made.
alter table templates add column attachment_url text;

-- The file that a campaign's messages carry: fetched once, before its recipients are frozen.
create table campaign_files (
  account_id bigint not null,
  campaign_id bigint primary key references campaigns (id) on delete cascade,
  url text not null,
  -- Until then the file is being fetched by somebody, or is not to be tried again.
  leased_until timestamptz not null,
  tries int not null default 0,
  filename text,
  content_type text,
  content bytea
);
