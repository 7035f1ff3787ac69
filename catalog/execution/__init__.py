"""Run scripts in sandboxed scenarios and measure how much the results prove.

`sandbox` runs a script in isolation or reports why isolation is not possible. `cases` prepares scenarios and checks the
results. `quality` measures which errors the sandbox tests would miss. Execution never verifies a script: a failed check
means that the script and the test disagree, and a reviewer decides which of them is wrong. The package does not access
the database. This module imports nothing, so that the helper process loads only its own modules.
"""
