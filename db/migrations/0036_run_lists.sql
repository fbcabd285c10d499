-- Runs are listed, newest first, by automation or by state.
create index automation_runs_automation_idx on automation_runs (account_id, automation_id, id desc);
create index automation_runs_status_idx on automation_runs (account_id, status, id desc);
