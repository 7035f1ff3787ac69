"""The pure flow of a run: retrieval, generation, assessment and refinement over ports, with prompts and readers."""
