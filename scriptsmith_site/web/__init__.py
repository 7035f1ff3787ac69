"""Infrastructure for all pages: middleware, errors, navigation, template context and web server settings."""
