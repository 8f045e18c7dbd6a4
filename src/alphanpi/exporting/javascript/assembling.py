"""A whole JavaScript file: head, learned functions, what they need, and ways to run it."""

from __future__ import annotations

import ast
import json

from alphanpi.environment.specification import Library
from alphanpi.environment.standalone import method_name
from alphanpi.exporting.escaping import one_line
from alphanpi.exporting.javascript.linking import linked
from alphanpi.exporting.javascript.naming import js_attribute, js_name
from alphanpi.exporting.javascript.refusing import UntranslatableError
from alphanpi.exporting.javascript.translating import Translation, translated

MOST_ACTIONS = 100_000
"""Actions after which `run` gives up, unless it is told otherwise."""


_RUN = f"""\
/**
 * Runs the main part on what someone has typed. Gives what it printed, the first state and a step for each action, with
 * the state after it; `onStep` is called with each. An input it does not understand is an Error with its message.
 */
export function run(text, onStep = null, most = {MOST_ACTIONS:_}) {{
  return $run($main, $KINDS, $ACTIONS, text, onStep, most);
}}"""

_SCRIPT = """\
// Run as `node FILE ARGUMENTS`.
if (globalThis.process?.versions?.node && process.argv[1]) {
  const [{ realpathSync }, { pathToFileURL }] = await Promise.all([import("node:fs"), import("node:url")]);
  let script = null;
  try {
    script = pathToFileURL(realpathSync(process.argv[1])).href;
  } catch {} // started in another way
  if (script === import.meta.url) {
    const { output, said, code } = $execute($main, process.argv.slice(2));
    process.stdout.write(output);
    process.stderr.write(said);
    process.exitCode = code;
  }
}"""


def has_run(javascript: str) -> bool:
    """Whether an assembled file has the function `run`."""
    return _RUN in javascript


def rule(text: str) -> str:
    """A line that divides a file."""
    return f"// {'-' * 30} {text} {'-' * 30}"


def head_comment(text: str) -> str:
    """Text at the head of a file; nothing in it ends the comment."""
    return "\n".join(f"// {one_line(line)}".rstrip() for line in text.strip().splitlines())


def actions_of(library: Library) -> dict[str, str]:
    """The actions by the names of their methods."""
    return {js_attribute(method_name(entry.name)): entry.name for entry in library[1 : library.atomic_count]}


def observed(translation: Translation, library: Library) -> str:
    """The constants that say which classes and methods are watched."""
    kinds = ", ".join(map(js_name, translation.classes))
    return f"const $KINDS = [{kinds}];\nconst $ACTIONS = {json.dumps(actions_of(library))};"


def assembled(python: str, library: Library, note: str = "") -> str:
    """An exported Python module as JavaScript; the note is added to its head."""
    tree = ast.parse(python)
    try:
        translation = translated(tree)
    except UntranslatableError as error:
        raise error.quoting(python) from None
    ends = [observed(translation, library), _RUN, _SCRIPT] if translation.main else []
    parts = [head_comment("\n\n".join(filter(None, (ast.get_docstring(tree) or "", note)))), translation.functions]
    used = linked(translation.functions, translation.rest, *ends)
    if used:
        parts += [rule("what Python means"), used]
    if translation.rest:
        parts += [rule("what the functions work on"), translation.rest]
    if ends:
        parts += [rule("running it"), *ends]
    return "\n\n".join(part for part in parts if part) + "\n"
