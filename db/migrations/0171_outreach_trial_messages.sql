-- Steps that went to the sandbox were written down like those that left.
update outreach_messages m
   set mode = 'test'
 where m.step is not null
   and m.mode = 'live'
   and (exists (select 1
                  from outreach_sequences s
                 where s.account_id = m.account_id and s.id = m.sequence_id and s.mode = 'test')
        or exists (select 1
                     from captured_messages c
                    where c.account_id = m.account_id and c.message_id = m.id));
