"""The pure flow of a run: retrieval, generation, assessment and refinement through ports, with prompts and readers."""
