"""What rounds, peer review and the guard are worth, before anything is paid: the real flow over assumed error rates.

Pure, like the flow that it drives: no Django, no database. `rates` is what is assumed, `decisions` what follows from
it for one item, `scripts` the texts that carry it. The stand-in answers from these (`pipeline.standin.simulated`);
`items` sends them through the flow, `figures` counts, `closed_form` says what must come out, `report` puts both
side by side. Everything here is simulated and never passed off as a model's.
"""
