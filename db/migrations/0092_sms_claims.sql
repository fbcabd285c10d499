-- Until when the worker that hands an SMS over has it for itself. By the clock of the database: those of two workers
-- differ, and the one that is ahead would find the other's lease over and send the SMS a second time.
alter table sms_messages add column claimed_until timestamptz;
comment on column sms_messages.claimed_until is 'null, or past: nobody has it';
