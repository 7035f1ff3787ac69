"""The Model Context Protocol server, with which agents search verified scripts, report outcomes and request scripts."""
