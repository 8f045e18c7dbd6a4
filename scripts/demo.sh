#!/bin/sh
# What `make demo` runs; needs `alphanpi` on PATH.
set -eu

heading() {
    printf '\n== %s\n' "$1"
}

heading "The environments: programs by level, * may call themselves"
alphanpi envs

heading "Checking them against the rules of the specification"
for environment in hanoi sorting recursive-sorting flat-sorting; do
    alphanpi check "$environment"
done

heading "Tower of Hanoi with 2 disks, by search with an untrained network"
alphanpi search hanoi HANOI 2

heading "Both pointers of a list one to the right, by search with an untrained network"
alphanpi search sorting RSHIFT "5 3 9 1"
