"""An evaluator of one's own in the place of the network: rules for the lights, run, searched with, and written down.

Whatever answers like a network will do: a table, rules, another framework's model. Search, interpreter, verification
and export take it; training is for the built-in network, whose sizes are settings (`network.memory` and so on).
"""

import numpy as np
from lights import Lights
from numpy.typing import NDArray

import alphanpi


class Rules:
    """Call yourself where that is possible, unless all is done; else switch on, or walk on."""

    memory_width = 1  # numbers carried from step to step of a call; these rules need none, and leave them as they are

    def __init__(self, environment: Lights) -> None:
        self.names = environment.library.names

    def evaluate(
        self, programs: NDArray[np.int64], observations: NDArray[np.int16], memory: NDArray[np.float32]
    ) -> alphanpi.Evaluation:
        """Logits of every action and a value for each row; what is not legal is masked by the caller."""
        logits = np.zeros((len(programs), len(self.names)), np.float32)
        for row, (lit, at_end) in enumerate(observations):
            wishes = ["STOP"] if lit and at_end else ["ALL_ON", "RIGHT" if lit else "TOGGLE"]
            for place, name in enumerate(wishes):
                logits[row, self.names.index(name)] = 9 - 3 * place
        return alphanpi.Evaluation(logits, np.ones(len(programs), np.float32), memory)


def main() -> None:
    """Run the rules on rows they have not seen, plan with them, and print them as a program."""
    environment = Lights()
    rules = Rules(environment)
    starts = [environment.initial("ALL_ON", 50, np.random.default_rng(seed)) for seed in range(40)]
    runs = alphanpi.Interpreter(environment, rules).run([alphanpi.Call("ALL_ON", start) for start in starts])
    print(f"{sum(run.success for run in runs)} of {len(runs)} rows of 50 lights")
    search = alphanpi.Search(environment, rules, alphanpi.SearchConfig(simulations_exploitation=20))
    [trace] = search.run([alphanpi.Request("ALL_ON", starts[0])])
    print(f"with search: {'solved' if trace.success else 'not solved'} in {len(trace.actions)} actions")
    exported = alphanpi.export_evaluator(
        environment, rules, alphanpi.Origin("rules", "none", "examples/lights.py", {}), samples=50
    )
    print(exported.text[exported.text.index("def all_on(") :])


if __name__ == "__main__":
    main()
