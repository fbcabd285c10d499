-- Exports of more than contacts: where a file ends so far is told in the words of what is being read.
alter table processes drop constraint processes_name_check;
alter table processes
  add constraint processes_name_check check (name in ('IMPORTUSER', 'EXPORTUSER', 'EXPORTRECIPIENTS')),
  -- Of an export: the last contact or message that it has looked at; null at its beginning. Moves in the transaction
  -- that adds to the file.
  add column read_to text;

update processes set read_to = last_contact_id where name = 'EXPORTUSER' and next_chunk > 0;

alter table processes drop column last_contact_id;
