"""Pages of the reviews; they translate between HTTP and the services and hold no rules."""
