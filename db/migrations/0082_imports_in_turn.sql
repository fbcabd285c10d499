-- Imports and exports are worked off account by account: which accounts have any is found by skipping through this.
drop index processes_open_idx;
create index processes_open_idx on processes (account_id, name, next_chunk, id)
  where status in ('queued', 'processing');
