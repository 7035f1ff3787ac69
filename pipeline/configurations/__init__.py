"""Configurations and prompts: models and roles, rounds, prompt versions, and the gain from refinement."""
