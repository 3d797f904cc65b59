"""`make torture`: slots damaged in every way that one fault can, read by the engine and by the Python package.

`damage` makes the slots and their faults, `readers` reads them with both, `run` judges and counts. Reads no network.
"""
