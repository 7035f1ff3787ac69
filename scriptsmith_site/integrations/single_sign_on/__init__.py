"""Single sign-on with an OpenID Connect provider, whose claims are mapped to an account with roles."""
