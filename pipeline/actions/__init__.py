"""Actions: what people ask for, the pages on which they ask, and the list of what was asked."""
