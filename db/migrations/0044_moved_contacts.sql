-- Whose an address was: a link in mail that was sent to it still reaches the contact that has moved since.
create index contact_history_moved_idx on contact_history (account_id, old_value, id)
  where attribute = 'EMAIL' and old_value is not null;
