"""Pages of the pipeline. Views read a request, call a service and answer; they hold no rules."""
