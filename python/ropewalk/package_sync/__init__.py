"""Package sync: gives a cluster or a job the Python environment of a process: the same Python version and packages, the user's
own projects as wheels, and the modules beside the program.

These modules only import the standard library and each other (relatively): `ropewalk batch run` starts reader.py
with a Python that need not have ropewalk.
"""
