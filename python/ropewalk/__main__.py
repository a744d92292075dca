"""`python -m ropewalk`."""

from ropewalk.cli.main import main

raise SystemExit(main())
