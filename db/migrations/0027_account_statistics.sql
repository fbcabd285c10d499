-- An account that came after the last count of a table is one that the planner believes to have no rows: any index that
-- begins with the account then looks as good as the one that leads to the row, and an import into it goes through all
-- of its rows for each single one. Without statistics of the column every account is taken for one in two hundred,
-- which is never so wrong, and an index that is unique always wins.
alter table contacts alter column account_id set statistics 0;
alter table list_members alter column account_id set statistics 0;
alter table list_unsubscriptions alter column account_id set statistics 0;
alter table suppressions alter column account_id set statistics 0;
alter table messages alter column account_id set statistics 0;
alter table message_events alter column account_id set statistics 0;
