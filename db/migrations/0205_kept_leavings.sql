-- The lists that somebody left, for as long as their contact is gone: made again by an import, it does not come back onto
-- them. Lists that are deleted take this along.
create table kept_leavings (
  account_id bigint not null,
  email      text not null,
  list_id    bigint not null,
  at         timestamptz not null,
  primary key (account_id, email, list_id),
  foreign key (account_id, list_id) references lists (account_id, id) on delete cascade
);

create index kept_leavings_list_id_idx on kept_leavings (account_id, list_id);

-- Here and below, a list that is just being deleted is waited for and left out.
create function keep_leavings() returns trigger language plpgsql as $$
begin
  insert into kept_leavings (account_id, email, list_id, at)
  select u.account_id, old.email, u.list_id, u.at
    from list_unsubscriptions u
    join lists l on l.account_id = u.account_id and l.id = u.list_id
   where u.account_id = old.account_id and u.contact_id = old.id
     for key share of l
  on conflict (account_id, email, list_id) do update set at = excluded.at;
  return old;
end $$;

create trigger contacts_leavings_kept before delete on contacts for each row
  when (old.email is not null) execute function keep_leavings();

-- A contact that has such an address leaves what its person left.
create function take_leavings(of_account bigint, of_contact bigint, address text) returns void language plpgsql as $$
begin
  with back as (
    delete from kept_leavings
     where account_id = of_account and email = address
    returning list_id, at),
  gone as (
    delete from list_members m
     using back b
     where m.account_id = of_account and m.list_id = b.list_id and m.contact_id = of_contact)
  insert into list_unsubscriptions (account_id, list_id, contact_id, at)
  select of_account, b.list_id, of_contact, b.at
    from back b
    join lists l on l.account_id = of_account and l.id = b.list_id
     for key share of l
  on conflict (account_id, contact_id, list_id) do nothing;
end $$;

-- Nearly everywhere there are none, and that is all that is asked then.
create function take_leavings_of_new() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if not exists (select 1 from kept_leavings) then return null; end if;
  perform take_leavings(c.account_id, c.id, c.email)
     from made c
    where exists (select 1 from kept_leavings k where k.account_id = c.account_id and k.email = c.email);
  return null;
end $$;

create trigger contacts_leavings_taken after insert on contacts referencing new table as made
  for each statement execute function take_leavings_of_new();

create function take_leavings_of_moved() returns trigger language plpgsql as $$
begin
  perform take_leavings(new.account_id, new.id, new.email);
  return null;
end $$;

create trigger contacts_leavings_moved after update of email on contacts for each row
  when (new.email is not null and new.email is distinct from old.email) execute function take_leavings_of_moved();
