"""The queue: which item a person may take, in which order, and for how long it is theirs."""
