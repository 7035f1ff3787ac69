"""What programs ask of the catalogue: a script to run, whether a text is the verified one, and how a run of it went."""
