"""Signing in with an OpenID Connect provider: what it says of a person becomes an account with roles."""
