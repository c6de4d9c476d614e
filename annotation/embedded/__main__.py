"""``python -m annotation.embedded COMMAND``: what the Makefile calls."""

from __future__ import annotations

import argparse
import signal
import sys

from annotation.embedded.errors import SetupError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m annotation.embedded")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="servers, web server and worker, until Ctrl-C")
    commands.add_parser("services", help="servers and a worker in the background")
    commands.add_parser("stop", help="stop what `services` started")
    commands.add_parser("browser", help="find or install Chromium and a Chinese font")
    fresh = commands.add_parser("throwaway", help="run a command against servers of its own")
    fresh.add_argument("--durable", action="store_true", help="PostgreSQL waits for the disk")
    fresh.add_argument("argv", nargs=argparse.REMAINDER, metavar="[--] COMMAND ...")
    options = parser.parse_args()

    # Nothing runs yet: a Ctrl-C during these imports, which take a moment, just ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from annotation.embedded import browser, folders, run, throwaway

    try:
        match options.command:
            case "run":
                return run.run(folders.var_folder())
            case "services":
                return run.start_services(folders.var_folder())
            case "stop":
                return run.stop_services(folders.var_folder())
            case "browser":
                return browser.ensure()
            case _:
                command = options.argv[1:] if options.argv[:1] == ["--"] else options.argv
                if not command:
                    fresh.error("which command?")
                return throwaway.throwaway(command, durable=options.durable)
    except (SetupError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
