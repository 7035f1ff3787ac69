"""The data of a run's page: the timeline, the calls, the feedback, each in words for people."""
