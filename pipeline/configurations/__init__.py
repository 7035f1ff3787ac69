"""Configurations and prompts: who plays which role, how many rounds, which prompt versions, what refinement gained."""
