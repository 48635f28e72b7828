import sys

from logstat.cli import main

sys.exit(main(sys.argv[1:]))
