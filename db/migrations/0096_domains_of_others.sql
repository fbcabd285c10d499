-- Whether a domain, or one above it, is some account's.
create index domains_verified_idx on domains (domain) where status = 'verified';
