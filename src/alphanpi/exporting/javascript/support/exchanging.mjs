// Values as JSON and back, for comparing what Python and JavaScript did.

// None, bools, small ints and texts stand for themselves, all else is a list with its kind first. What can change has a
// number, and is a reference where it is met again.
function $encoded(value, seen = new Map()) {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return value + 0;
  if (typeof value === "bigint") return ["int", String(value)];
  if (value === undefined) return ["undefined"];
  if (typeof value === "function") return ["function"];
  if (value instanceof $Float) return ["float", $floatText(value.value)];
  const inside = (one) => $encoded(one, seen);
  if (value instanceof $Tuple) return ["tuple", Array.from(value, inside)];
  if (value instanceof $Range) return ["range", value.start, value.stop, value.step];
  if (seen.has(value)) return ["reference", seen.get(value)];
  seen.set(value, seen.size);
  if (Array.isArray(value)) return ["list", value.map(inside)];
  if (value instanceof $Dict) return ["dict", $items(value).map((pair) => Array.from(pair, inside))];
  if (value instanceof $Set) return ["set", $elements(value).map((one) => JSON.stringify(inside(one))).sort()];
  const names = Object.keys(value).map((name) => [name.replace(/\$$/, ""), name]).sort(([a], [b]) => (a < b ? -1 : 1));
  return ["object", $typeName(value), names.map(([name, own]) => [name, inside(value[own])])];
}

function $decoded(value, seen = [], classes = {}) {
  if (!Array.isArray(value)) return value;
  const [kind, ...parts] = value;
  const inside = (one) => $decoded(one, seen, classes);
  if (kind === "made") return new classes[parts[0]](...parts[1].map(inside));
  if (kind === "int") return BigInt(parts[0]);
  if (kind === "float") return $float(parts[0]);
  if (kind === "tuple") return $tuple(parts[0].map(inside));
  if (kind === "range") return $range(...parts);
  if (kind === "reference") return seen[parts[0]];
  const made = kind === "list" ? [] : kind === "dict" ? new $Dict() : new $Set();
  seen.push(made);
  for (const part of parts[0])
    if (kind === "list") made.push(inside(part));
    else if (kind === "dict") made.put(inside(part[0]), inside(part[1]));
    else made.put(inside(part));
  return made;
}
