create index messages_template_idx on messages (account_id, template_id, id desc) where template_id is not null;
