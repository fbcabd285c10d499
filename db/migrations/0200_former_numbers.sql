-- Whose a telephone number was, as with addresses: whoever asks for a former one is told which contact had it.
create index contact_history_former_numbers_idx on contact_history (account_id, old_value, id)
  where attribute = 'SMS' and old_value is not null;
