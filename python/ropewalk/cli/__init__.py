"""The command `ropewalk` of this package: the users' commands, over the API. Names, options and texts match those
of the command that comes with Ropewalk itself, which also has the operators' commands;
test/python/python.test.ts compares them."""
