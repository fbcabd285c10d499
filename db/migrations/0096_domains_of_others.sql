-- Whether a domain, or one above it, was shown to be some account's. One wrong answer of DNS changes nothing about that.
create index domains_verified_idx on domains (domain) where verified_at is not null;
