-- Of an address that bounces: where its person said that they leave as well, which stays when the bounce is lifted.
alter table suppressions add column left_source text;
