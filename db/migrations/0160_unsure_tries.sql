-- How many hand-overs of which nobody heard whether the message was taken: each may have reached its reader.
alter table messages add column unsure_tries smallint not null default 0;
