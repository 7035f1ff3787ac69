"""Management of campaigns: rules, states, runs, reviewers, rubrics and adjudication."""
