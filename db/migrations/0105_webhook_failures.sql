-- When the last call began that failed. Between two calls that are further apart than tries ever are, the receiver was
-- not asked: nothing is said of it.
alter table webhooks add column failed_at timestamptz;
