"""Actions: requests of users, the pages to create them, and their list."""
