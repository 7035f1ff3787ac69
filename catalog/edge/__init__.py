"""Where requests come in: what cannot be used is refused here, once, for pages and API of every app."""
