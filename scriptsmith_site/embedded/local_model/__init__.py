"""Language models on this machine: fetching their weights, and serving them with llama.cpp's server.

Only `server` imports `xllamacpp`, and only in the process that serves a model.
"""
