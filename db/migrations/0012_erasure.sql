-- The key that erased addresses are hashed with. In the database, so that every statement that asks whether an address
-- may be written to can ask for its hash as well.
alter table installation
  add column address_key bytea not null
      default sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea);

-- What stands in place of an erased address: it can be recognised, not read. No address looks like this.
create function erased_name(email text) returns text language sql stable as $$
  select 'erased:' || encode(sha256(i.address_key || convert_to(email, 'UTF8')), 'hex') from installation i
$$;
