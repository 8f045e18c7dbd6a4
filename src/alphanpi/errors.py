"""Errors that are the user's to mend; each message names what, where, and what to do."""


class AlphaNPIError(Exception):
    """Base of all errors the command line reports in one line with exit code 2."""


class SpecificationError(AlphaNPIError):
    """An environment's declaration breaks a rule of the specification language."""


class UnknownEnvironmentError(AlphaNPIError):
    """No environment goes by that id, path or module."""


class EnvironmentFault(AlphaNPIError):  # noqa: N818 - it is the environment's fault, not an error of ours
    """A user's environment raised, or returned something unusable."""


class UsageError(AlphaNPIError):
    """A command or a function was given arguments that do not fit together."""


class StopTraining(Exception):  # noqa: N818 - a wish, not an error
    """Raised by an observer of `train` or `resume` to end the training after this iteration, with a checkpoint."""
