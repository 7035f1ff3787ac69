"""A product of one page, small enough to start and stop often: what is tested is what runs it."""
