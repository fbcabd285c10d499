-- A number stays blacklisted when its contact moves to another one, as an address does: the contact takes it along.
create trigger contacts_sms_moved after update on contacts for each row
  when (old.sms_blacklisted and new.sms_blacklisted and old.sms is not null and new.sms is distinct from old.sms)
  execute function outlive_contact();
