-- When the message was handed over for the first time without having left by it: its time of tries begins there. Null
-- before, and of messages from before this column.
alter table messages add column tried_since timestamptz;
alter table sms_messages add column tried_since timestamptz;
