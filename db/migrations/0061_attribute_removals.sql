-- Values that are still to be taken away from contacts: of a whole attribute, or only some choices of it. Where there
-- are many contacts it is done a few thousand at a time; those up to done_to are done.
create table attribute_removals (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id),
  name text not null,
  choices jsonb,
  done_to bigint not null
);

create index attribute_removals_name_idx on attribute_removals (account_id, name);
