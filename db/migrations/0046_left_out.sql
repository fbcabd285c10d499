-- What a copy left out is tried again by the next run. Attributes and blocked domains have no number here, so that those
-- which were left out cannot be told from the others.
delete from provider_copied_ids where ours = 0 and kind not in ('attributes', 'blockedDomains');
