"""How people and programs prove who they are: sessions, tokens, links, limits on guessing."""
