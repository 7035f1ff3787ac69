"""The composition root: it knows every app, and no app knows it."""
