"""Actions: user requests, the pages to create them, and their list."""
