"""What surrounds every page: middleware, errors, navigation, the template context, and how web processes serve."""
