"""The Model Context Protocol: agents read the verified catalogue, and may report and ask; nothing is decided here."""
