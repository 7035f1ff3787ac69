"""The Model Context Protocol server: agents search verified scripts, report outcomes and request new scripts."""
