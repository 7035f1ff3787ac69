"""Services for alerts and incidents, used by the pages, the API, the tasks and the webhook."""
