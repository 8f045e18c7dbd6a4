#!/bin/sh
# What `make demo` runs; needs `alphanpi` on PATH.
set -eu

heading() {
    printf '\n== %s\n' "$1"
}

run=$(mktemp -d)/hanoi
trap 'rm -rf "$(dirname "$run")"' EXIT

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
