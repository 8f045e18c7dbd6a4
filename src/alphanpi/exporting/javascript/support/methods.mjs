// Methods of lists, tuples, dicts and sets.

// Methods of lists, tuples, dicts, sets and strings.
function $of(value, kinds, name) {
  const [kind] = kinds.filter((one) => $isinstance(value, one));
  if (kind === undefined) throw new $AttributeError(`'${$typeName(value)}' object has no attribute '${name}'`);
  return kind;
}

function $append(list, value) {
  $of(list, ["list"], "append");
  list.push(value);
  return null;
}

function $extend(list, values) {
  $of(list, ["list"], "extend");
  $iadd(list, values);
  return null;
}

function $insert(list, index, value) {
  $of(list, ["list"], "insert");
  list.splice(Number(index), 0, value);
  return null;
}

function $pop(container, index, other) {
  if ($of(container, ["list", "dict", "set"], "pop") === "list") {
    if (container.length === 0) throw new $IndexError("pop from empty list");
    return container.splice($place(index ?? -1, container.length, "pop"), 1)[0];
  }
  if (container instanceof $Set) throw new $TypeError("the order of a set's elements is not translated");
  const entry = container.find(index);
  if (entry === undefined && other === undefined) throw new $KeyError(index);
  container.entries.delete($key(index));
  return entry === undefined ? other : entry[1];
}

function $remove(container, value) {
  if ($of(container, ["list", "set"], "remove") === "set") {
    if (!container.entries.delete($key(value))) throw new $KeyError(value);
    return null;
  }
  const place = container.findIndex((one) => $same(one, value));
  if (place < 0) throw new $ValueError("list.remove(x): x not in list");
  container.splice(place, 1);
  return null;
}

function $index(container, value, start = 0, stop = null) {
  if ($of(container, ["list", "tuple", "str", "range"], "index") === "str") {
    const found = $find(container, value, start, stop);
    if (found < 0) throw new $ValueError("substring not found");
    return found;
  }
  const values = [...container];
  for (const place of $places(values.length, start, stop, null)) if ($same(values[place], value)) return place;
  throw new $ValueError(`${$repr(value)} is not in list`);
}

function $count(container, value) {
  if ($of(container, ["list", "tuple", "str", "range"], "count") !== "str") return [...container].filter((one) => $same(one, value)).length;
  return value === "" ? $len(container) + 1 : container.split(value).length - 1;
}

function $reverse(list) {
  $of(list, ["list"], "reverse");
  list.reverse();
  return null;
}

function $sort(list, key = null, reverse = false) {
  $of(list, ["list"], "sort");
  list.splice(0, list.length, ...$sorted(list, key, reverse));
  return null;
}

function $copy(container) {
  const kind = $of(container, ["list", "dict", "set"], "copy");
  return kind === "list" ? [...container] : kind === "dict" ? $dict(container) : $setof(container);
}

function $clear(container) {
  if ($of(container, ["list", "dict", "set"], "clear") === "list") container.length = 0;
  else container.entries.clear();
  return null;
}

function $lookup(dict, key, other = null) {
  $of(dict, ["dict"], "get");
  return (dict.find(key) ?? [key, other])[1];
}

function $setdefault(dict, key, value = null) {
  $of(dict, ["dict"], "setdefault");
  if (dict.find(key) === undefined) dict.put(key, value);
  return dict.find(key)[1];
}

function $keys(dict) {
  $of(dict, ["dict"], "keys");
  return [...dict];
}

function $values(dict) {
  $of(dict, ["dict"], "values");
  return [...dict.entries.values()].map(([, value]) => value);
}

function $items(dict) {
  $of(dict, ["dict"], "items");
  return [...dict.entries.values()].map(([key, value]) => new $Tuple(key, value));
}

function $update(container, values) {
  if ($of(container, ["dict", "set"], "update") === "set") for (const value of $elements(values)) container.put(value);
  else for (const [key, value] of $items($dict(values))) container.put(key, value);
  return null;
}

function $include(set, value) {
  $of(set, ["set"], "add");
  set.put(value);
  return null;
}

function $discard(set, value) {
  $of(set, ["set"], "discard");
  set.entries.delete($key(value));
  return null;
}

function $union(set, ...others) {
  $of(set, ["set"], "union");
  return others.reduce((all, other) => $bitor(all, $setof(other)), $setof(set));
}

function $intersection(set, other) {
  $of(set, ["set"], "intersection");
  return $bitand(set, $setof(other));
}

function $difference(set, other) {
  $of(set, ["set"], "difference");
  return $sub(set, $setof(other));
}

function $issubset(set, other) {
  $of(set, ["set"], "issubset");
  return $le(set, $setof(other));
}
