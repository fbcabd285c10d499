-- Of an import: the first columns that the account has no attribute for, so that whoever gave them can be told.
alter table processes add column ignored_columns jsonb not null default '[]';
