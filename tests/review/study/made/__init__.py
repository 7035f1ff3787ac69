"""Studies made up from a seed, each with some kind of trouble, as rows of files to import."""
