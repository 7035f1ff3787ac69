"""What a script does, said in words by rule."""
