"""The composition root. It imports every app, and no app imports it."""
