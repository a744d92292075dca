"""The command `ropewalk` of this package: what users need, over the API. Names, options and texts are those of the command that
comes with Ropewalk itself, which also has the commands of operators; test/python/python.test.ts holds them alike."""
