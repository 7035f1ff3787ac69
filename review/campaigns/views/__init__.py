"""Views of the campaign pages."""
