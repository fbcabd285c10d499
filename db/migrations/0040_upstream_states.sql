-- What each upstream did last, for the health report: written by the workers, when it changes and now and then.
create table upstream_states (
  upstream text primary key,
  failing  boolean not null,
  -- Since when it does what it does.
  since    timestamptz not null,
  said     text
);
