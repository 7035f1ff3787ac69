"""Pure readers of model replies. They extract scripts, verdicts and explanations, or say why a reply can't be read."""
