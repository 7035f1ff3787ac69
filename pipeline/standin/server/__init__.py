"""The Messages API over HTTP: requests, refusals, replies, token counts, the log, and faults on request."""
