"""Many runs: environments x settings x seeds, each in a process of its own, on this machine or on a cluster."""
