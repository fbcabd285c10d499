-- Since when both versions of an A/B test are out: from then on its readers have the time that the test lasts.
alter table campaigns add column tested_at timestamptz;
