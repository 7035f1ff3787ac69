"""Jobs: background work that somebody waits for, held by one worker at a time."""
