"""The data of a run's page: timeline, calls and feedback."""
