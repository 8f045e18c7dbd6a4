#!/bin/sh
# What `make demo` runs; needs `alphanpi` on PATH. It leaves its run, and a page about it, in runs/demo.
set -eu

run=runs/demo
mark=$run/made-by-make-demo # a finished demo; nothing else is ever replaced
before=

heading() {
    printf '\n== %s\n' "$1"
}

# A demo that does not come to its end leaves the one before as it was.
clean_up() {
    status=$?
    trap - EXIT INT TERM
    if [ "$status" -ne 0 ] && [ -n "$started" ]; then
        rm -rf "$run"
        if [ -n "$before" ]; then mv "$before" "$run"; fi
    elif [ -n "$before" ]; then
        rm -rf "$before"
    fi
    exit "$status"
}

started=
if [ -e "$run" ] && [ ! -f "$mark" ]; then
    echo "$run is there, and was not left by a finished demo: move it away, or remove it" >&2
    exit 2
fi
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ -e "$run" ]; then
    before=$run-before-$$
    mv "$run" "$before"
fi
started=yes

heading "The environments: programs by level, * may call themselves"
alphanpi envs

heading "Is the specification of the Tower of Hanoi sound?"
alphanpi check hanoi

heading "Learning the Tower of Hanoi from one and two disks, until the program is proved"
alphanpi train hanoi --seed 0 --out "$run" --until verified

heading "Does it generalise? The network alone, and with planning"
alphanpi eval "$run" --program HANOI --sizes 2,3,5,8,10,12 --episodes 3

heading "What it learned: the call tree for three disks"
alphanpi trace "$run" HANOI 3

heading "Its moves"
alphanpi run "$run" HANOI 3

heading "Is it right for every number of disks?"
alphanpi verify "$run"

heading "What was learned, as Python"
alphanpi export "$run" -o "$run/hanoi.py"
awk '/^# ---/ { exit } /^def / { shown = 1 } shown' "$run/hanoi.py"

heading "The same program on its own, without AlphaNPI: 3 disks"
python3 "$run/hanoi.py" 3

heading "An agent that comes with the package sorts a list"
alphanpi run pretrained:recursive-sorting-compare BUBBLESORT "31 4 15 92 65 35 8"

heading "A page that shows all of it"
alphanpi report "$run" --input 4 --seconds 5 -o "$run/report.html"
touch "$mark"

heading "Where to go from here"
cat <<END
Open $PWD/$run/report.html in a browser. The run itself is kept in $run until the next demo.

To have \`alphanpi\` as a command in this shell (or write .venv/bin/alphanpi):
  source .venv/bin/activate

Then, for example:
  alphanpi run $run HANOI 5              # what was learned just now
  alphanpi agents                              # agents that come with the package
  alphanpi check examples/lights.py            # a problem of your own, in one file ...
  alphanpi train examples/lights.py --out runs/lights
  alphanpi report runs/lights -o lights.html   # ... and its page
  alphanpi new-env counting                    # begin one: docs/custom_environment.md
END
