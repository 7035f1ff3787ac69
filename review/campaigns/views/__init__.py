"""Views for the campaign pages."""
