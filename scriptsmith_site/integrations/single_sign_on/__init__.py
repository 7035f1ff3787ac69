"""Single sign-on with an OpenID Connect provider: its claims are mapped to an account with roles."""
