-- Nothing goes before this time, whatever the delay of the next step is or becomes: the prospect is away. null: no such.
alter table outreach_enrollments add column rests_until timestamptz;
