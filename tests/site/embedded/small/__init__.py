"""A product with one page. Tests start and stop it often, because it is small."""
