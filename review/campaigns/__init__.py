"""Campaigns: rules, states, runs, people, rubrics, adjudication; for managers."""
