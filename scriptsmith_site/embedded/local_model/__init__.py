"""Local language models: download their weights, and serve them with llama.cpp's server.

Only `server` imports `xllamacpp`, and only in the process that serves a model.
"""
