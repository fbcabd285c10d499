-- Most Message-IDs hold the identifier of their row and need no index: a row is found by its primary key.
create function names_itself(id uuid, message_id text) returns boolean language sql immutable parallel safe as $$
  select starts_with(message_id, '<' || replace(id::text, '-', '') || '@')
$$;

drop index messages_message_id_idx;
create index messages_message_id_idx on messages (account_id, message_id) where not names_itself(id, message_id);
