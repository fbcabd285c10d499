-- A number stays blacklisted when its contact is deleted, as an address does: made again, the contact shows it.
alter table sms_optouts drop constraint sms_optouts_reason_check;
alter table sms_optouts
  add constraint sms_optouts_reason_check check (reason in ('stop', 'upstream', 'blacklisted', 'erasure'));

create function outlive_contact() returns trigger language plpgsql as $$
begin
  insert into sms_optouts (account_id, phone, reason, created_at)
  select old.account_id, old.sms, 'blacklisted', now()
   where not exists (select 1
                       from sms_optouts
                      where account_id = old.account_id and phone = erased_name(old.sms))
  on conflict (account_id, phone) do nothing;
  return null;
end $$;

create trigger contacts_sms_deleted after delete on contacts for each row
  when (old.sms_blacklisted and old.sms is not null) execute function outlive_contact();
