"""Authentication: sessions, tokens, one-time links and limits on guessing."""
