"""Scripts and feedback, written, adapted and mended by rule."""
