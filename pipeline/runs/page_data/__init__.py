"""What the pages of runs show: the timeline, the calls, the feedback, each in words for people."""
