-- Why a sequence rests: manual, or mailbox_deleted when it had no other to send from. null while it does not.
alter table outreach_sequences add column paused_reason text;

update outreach_sequences set paused_reason = 'manual' where status = 'paused';
update outreach_sequences
   set status = 'paused', paused_reason = 'mailbox_deleted'
 where status = 'running' and mailbox_ids = '{}';

-- Steps that were taken out of a sequence are planned no more, so that nobody waits for them.
update outreach_enrollments e
   set state = 'finished', ended_at = now(), planned_at = null
  from outreach_sequences s
 where s.account_id = e.account_id and s.id = e.sequence_id and s.status = 'running'
   and e.next_step >= jsonb_array_length(s.steps) and e.state = 'active' and e.handing_id is null;

-- sent is what left of sequences. Beside it: answers of people, which also left, and what the server refused, which did
-- not but tells, with what came back later, how good the addresses are.
alter table outreach_mailbox_days
  add column answered integer not null default 0,
  add column refused integer not null default 0;

-- As it was when the message left: the mailbox may be deleted later.
alter table outreach_messages add column sender text, add column sender_name text;

update outreach_messages o
   set sender = m.email, sender_name = m.name
  from outreach_mailboxes m
 where m.account_id = o.account_id and m.id = o.mailbox_id;
