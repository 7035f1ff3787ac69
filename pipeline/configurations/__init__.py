"""Configurations and prompts: which model has which role, how many rounds, which prompt versions, what refinement
gained.
"""
