"""Pages of the catalogue. Views read a request, call a service and answer; they hold no rules."""
