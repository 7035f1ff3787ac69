"""What the people who run the product need: health, audit log, search over everything, backup."""
