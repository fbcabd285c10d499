create table contact_attributes (
  account_id  bigint not null references accounts (id),
  -- Upper case; one namespace for all categories.
  name        text not null,
  category    text not null check (category in ('normal', 'transactional', 'category', 'calculated', 'global')),
  type        text check (type in ('text', 'date', 'float', 'boolean', 'id', 'category', 'multiple-choice', 'user')),
  -- Of a category: [{"value": 1, "label": "…"}, …].
  enumeration jsonb,
  -- Of a multiple choice.
  options     text[],
  -- Of what is calculated, or global: its formula.
  formula     text,
  created_at  timestamptz not null,
  primary key (account_id, name)
);

create table folders (
  account_id bigint not null references accounts (id),
  id         bigint generated always as identity unique,
  name       text not null,
  created_at timestamptz not null,
  primary key (account_id, id)
);

create table lists (
  account_id bigint not null references accounts (id),
  id         bigint generated always as identity unique,
  name       text not null,
  -- null: in no folder, which the wire calls 0.
  folder_id  bigint,
  created_at timestamptz not null,
  primary key (account_id, id),
  foreign key (account_id, folder_id) references folders (account_id, id) on delete set null (folder_id)
);

create index lists_folder_id_idx on lists (account_id, folder_id, id desc);

create table contacts (
  account_id       bigint not null,
  id               bigint generated always as identity unique,
  -- Lower case, domain in its ASCII form; null for one known by telephone or by the customer's own identifier only.
  email            text,
  ext_id           text,
  -- Digits with the country's, no plus.
  sms              text,
  status           text not null default 'subscribed' check (status in ('subscribed', 'unsubscribed')),
  sms_blacklisted  boolean not null default false,
  -- Values by attribute name, each of its attribute's type. EMAIL and SMS stand in their own columns.
  attributes       jsonb not null default '{}',
  tags             text[] not null default '{}',
  -- The consent in force; all that ever were are in consents.
  consent_date     timestamptz,
  consent_source   text,
  consent_ip       text,
  consent_text     text,
  -- Whether the consent covers the tracking of opens and clicks; null: nothing said.
  tracking_consent boolean,
  created_at       timestamptz not null,
  modified_at      timestamptz not null,
  primary key (account_id, id)
) with (fillfactor = 85);

create unique index contacts_email_idx on contacts (account_id, email) where email is not null;
create unique index contacts_ext_id_idx on contacts (account_id, ext_id) where ext_id is not null;
create unique index contacts_sms_idx on contacts (account_id, sms) where sms is not null;
create index contacts_modified_at_idx on contacts (account_id, modified_at);

create table list_members (
  account_id bigint not null,
  list_id    bigint not null,
  contact_id bigint not null,
  added_at   timestamptz not null,
  primary key (account_id, list_id, contact_id),
  foreign key (account_id, list_id) references lists (account_id, id) on delete cascade,
  foreign key (account_id, contact_id) references contacts (account_id, id) on delete cascade
);

create index list_members_contact_id_idx on list_members (account_id, contact_id);

-- Lists that a person left by their own choice; being a member again takes them out.
create table list_unsubscriptions (
  account_id bigint not null,
  list_id    bigint not null,
  contact_id bigint not null,
  at         timestamptz not null,
  primary key (account_id, contact_id, list_id),
  foreign key (account_id, list_id) references lists (account_id, id) on delete cascade,
  foreign key (account_id, contact_id) references contacts (account_id, id) on delete cascade
);

create index list_unsubscriptions_list_id_idx on list_unsubscriptions (account_id, list_id);

-- Every change of an attribute, and of status, with where it came from.
create table contact_history (
  account_id bigint not null,
  contact_id bigint not null,
  id         uuid not null,
  attribute  text not null,
  old_value  jsonb,
  new_value  jsonb,
  changed_at timestamptz not null,
  -- api, import, unsubscribe, preferences…
  source     text not null,
  primary key (account_id, contact_id, id),
  foreign key (account_id, contact_id) references contacts (account_id, id) on delete cascade
);

-- Only added to; a person's erasure is the one exception.
create table consents (
  account_id       bigint not null,
  contact_id       bigint not null,
  id               uuid not null,
  date             timestamptz,
  source           text,
  ip               text,
  text             text,
  tracking_consent boolean,
  -- By which key, or by which import.
  key_id           uuid,
  process_id       bigint,
  recorded_at      timestamptz not null,
  primary key (account_id, contact_id, id),
  foreign key (account_id, contact_id) references contacts (account_id, id) on delete cascade
);

create index consents_source_idx on consents (account_id, source);

create table contact_tags (
  account_id bigint not null references accounts (id),
  name       text not null,
  created_at timestamptz not null,
  primary key (account_id, name)
);

create table segments (
  account_id    bigint not null references accounts (id),
  id            bigint generated always as identity unique,
  name          text not null,
  category_name text not null default '',
  attribute     text not null,
  operator      text not null
                check (operator in ('eq', 'neq', 'contains', 'gt', 'lt', 'before', 'after', 'is_set', 'is_not_set', 'in')),
  value         jsonb,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (account_id, id)
);

-- How many contacts an account has (list 0) and each list has: counting a million takes longer than reading a page.
create table contact_counts (
  account_id bigint not null,
  list_id    bigint not null,
  contacts   bigint not null,
  primary key (account_id, list_id)
) with (fillfactor = 50);

create function count_contacts() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into contact_counts as c (account_id, list_id, contacts)
    select account_id, 0, count(*) from changed group by account_id order by account_id
    on conflict (account_id, list_id) do update set contacts = c.contacts + excluded.contacts;
  else
    insert into contact_counts as c (account_id, list_id, contacts)
    select account_id, 0, -count(*) from changed group by account_id order by account_id
    on conflict (account_id, list_id) do update set contacts = c.contacts + excluded.contacts;
  end if;
  return null;
end $$;

create trigger contacts_inserted after insert on contacts referencing new table as changed
  for each statement execute function count_contacts();
create trigger contacts_deleted after delete on contacts referencing old table as changed
  for each statement execute function count_contacts();

create function count_members() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into contact_counts as c (account_id, list_id, contacts)
    select account_id, list_id, count(*) from changed group by account_id, list_id order by account_id, list_id
    on conflict (account_id, list_id) do update set contacts = c.contacts + excluded.contacts;
  else
    insert into contact_counts as c (account_id, list_id, contacts)
    select account_id, list_id, -count(*) from changed group by account_id, list_id order by account_id, list_id
    on conflict (account_id, list_id) do update set contacts = c.contacts + excluded.contacts;
  end if;
  return null;
end $$;

create trigger members_inserted after insert on list_members referencing new table as changed
  for each statement execute function count_members();
create trigger members_deleted after delete on list_members referencing old table as changed
  for each statement execute function count_members();

-- Every account starts with the two attributes that everybody has; every later one is its own.
create function add_usual_attributes() returns trigger language plpgsql as $$
begin
  insert into contact_attributes (account_id, name, category, type, created_at)
  select new.id, u.name, 'normal', 'text', now() from unnest(array['FIRSTNAME', 'LASTNAME']) as u (name);
  return null;
end $$;

create trigger accounts_inserted after insert on accounts
  for each row execute function add_usual_attributes();

insert into contact_attributes (account_id, name, category, type, created_at)
select a.id, u.name, 'normal', 'text', now() from accounts a, unnest(array['FIRSTNAME', 'LASTNAME']) as u (name);
