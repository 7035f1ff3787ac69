"""The Messages API over HTTP: requests, refusals, replies, token counts, log and injected faults."""
