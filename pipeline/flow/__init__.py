"""The flow of a run, pure: retrieval, generation, assessment and refinement over ports, with prompts and readers."""
