# SPDX-License-Identifier: BSD-3-Clause
"""Builds the book: Doxygen reads the public headers, Sphinx writes HTML and manual pages. Warnings
are errors.

Called by doc/meson.build. Leaves OUTPUT/html, the manual pages of conf.py in OUTPUT, and a list for
ninja of all that went into them.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("doxygen", "sphinx", "dot", "version"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("source", "output", "stamp", "depfile"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument("headers", nargs="+", type=Path)
    return parser.parse_args()


def run(*command, **env):
    """Runs a command. What it has to say is shown only if it fails, which ends the program."""
    done = subprocess.run([str(word) for word in command], env={**os.environ, **env},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode != 0:
        sys.exit(f"{Path(command[0]).name} failed\n{done.stdout}")


def read_headers(args):
    """Doxygen's XML, made anew: breathe would read what an earlier header left there."""
    shutil.rmtree(args.output / "xml", ignore_errors=True)
    config = (args.source / "Doxyfile.in").read_text()
    config = config.replace("@OUTPUT@", str(args.output.resolve()))
    config = config.replace("@HEADERS@", " ".join(f'"{path.resolve()}"' for path in args.headers))
    doxyfile = args.output / "Doxyfile"
    doxyfile.write_text(config)
    run(args.doxygen, doxyfile)


def write(builder, args, output):
    run(args.sphinx, "-W", "--keep-going", "-n", "-q", "-b", builder,
        "-d", args.output / "doctrees", "-D", f"release={args.version}",
        "-D", f"graphviz_dot={args.dot}",
        "-D", f"breathe_projects.halyard={(args.output / 'xml').resolve()}",
        args.source, output)


def dependencies(args):
    """Files that the book is made of, those that its pages include among them."""
    yield from (path for path in args.source.rglob("*") if path.is_file())
    yield from args.headers
    yield from (path for path in (args.source.parent / "examples" / "ttl-guard").iterdir()
                if path.suffix in (".c", ".h") or path.name == "Makefile")


def main():
    args = arguments()
    read_headers(args)
    # Sphinx's C domain forgets enumerators of a page that is read again.
    shutil.rmtree(args.output / "doctrees", ignore_errors=True)
    write("html", args, args.output / "html")
    write("man", args, args.output)
    paths = sorted({str(path.resolve()) for path in dependencies(args)})
    args.depfile.write_text(f"{args.stamp}: " + " \\\n ".join(paths) + "\n")
    args.stamp.touch()


if __name__ == "__main__":
    main()
