"""Measurements of the sandbox: seconds of a case, a campaign that is executed, tasks of InterCode, quality of cases."""
