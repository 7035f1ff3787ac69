"""A product with one page, small enough to start and stop often, to test the code that runs it."""
