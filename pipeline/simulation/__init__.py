"""What rounds, peer review and the guard are worth, before anything is paid: the real flow over assumed error rates.

Pure, like the flow that it drives: no Django, no database. What is assumed stands in `pipeline.error_model`, from which
the stand-in answers as well. `item_flow` sends items through the flow, `figures` counts, `closed_form` calculates what
must come out, `result_document` puts both side by side. Every result is labelled as simulated, never as a model's.
"""
