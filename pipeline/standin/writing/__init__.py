"""Rules that write, adapt and fix scripts and feedback."""
