"""What curators look after: near-duplicates, merges, rechecks, tags, Django's admin."""
