"""Count what each item contributes to a campaign's figures, updated as scores arrive."""
