// Going through containers, taking them apart, indices and slices.

// What a loop goes through.
function $iter(value) {
  if (typeof value === "string" || Array.isArray(value)) return value;
  if (value instanceof $Set) throw new $TypeError("the order of a set's elements is not translated; sort them");
  if (typeof value?.__iter__ === "function") return value.__iter__();
  if (typeof value?.next === "function") return { [Symbol.iterator]: () => ({ next: () => value.next() }) }; // a loop that is left does not end it
  if (typeof value?.[Symbol.iterator] === "function") return value;
  throw new $TypeError(`'${$typeName(value)}' object is not iterable`);
}

// The same where the order does not matter.
function $elements(value) {
  return value instanceof $Set ? [...value.entries.values()] : [...$iter(value)];
}

function* $each(values, made, test = null) {
  for (const value of values) if (test === null || test(value)) yield made(value);
}

function* $flat(values, made, test = null) {
  for (const value of values) if (test === null || test(value)) yield* made(value);
}

// As many values as there are names; `shape` is a number, or has an entry for each: 0, "*", or a shape.
function $unpack(value, shape) {
  const values = [...$iter(value)];
  const entries = typeof shape === "number" ? new Array(shape).fill(0) : shape;
  const star = entries.indexOf("*");
  if (star < 0 ? values.length !== entries.length : values.length < entries.length - 1)
    throw new $ValueError(`${values.length < entries.length ? "not enough" : "too many"} values to unpack (expected ${entries.length})`);
  if (star >= 0) values.splice(star, 0, values.splice(star, values.length - entries.length + 1));
  return values.map((one, place) => (Array.isArray(entries[place]) ? $unpack(one, entries[place]) : one));
}

function* $unpacked(values, shape) {
  for (const value of $iter(values)) yield $unpack(value, shape);
}

function $len(value) {
  if (typeof value === "string") return /[\ud800-\udbff][\udc00-\udfff]/.test(value) ? Array.from(value).length : value.length;
  if (Array.isArray(value) || value instanceof $Range) return value.length;
  if (value instanceof $Dict || value instanceof $Set) return value.entries.size;
  if (typeof value?.__len__ === "function") return value.__len__();
  throw new $TypeError(`object of type '${$typeName(value)}' has no len()`);
}

function $place(index, length, what) {
  if (!$isInt(index)) throw new $TypeError(`${what} indices must be integers or slices, not ${$typeName(index)}`);
  const place = Number(index) < 0 ? Number(index) + length : Number(index);
  if (place < 0 || place >= length) throw new $IndexError(`${what} index out of range`);
  return place;
}

function $get(container, index) {
  if (Array.isArray(container)) {
    if (typeof index === "number" && index >= 0 && index < container.length) return container[index];
    return container[$place(index, container.length, $isList(container) ? "list" : "tuple")];
  }
  if (typeof container === "string") {
    const characters = Array.from(container);
    return characters[$place(index, characters.length, "string")];
  }
  if (container instanceof $Dict) {
    const entry = container.find(index);
    if (entry === undefined) throw new $KeyError(index);
    return entry[1];
  }
  if (container instanceof $Range) return container.start + container.step * $place(index, container.length, "range object");
  if (typeof container?.__getitem__ === "function") return container.__getitem__(index);
  throw new $TypeError(`'${$typeName(container)}' object is not subscriptable`);
}

function $set(container, index, value) {
  if ($isList(container)) container[$place(index, container.length, "list")] = value;
  else if (container instanceof $Dict) container.put(index, value);
  else if (typeof container?.__setitem__ === "function") container.__setitem__(index, value);
  else throw new $TypeError(`'${$typeName(container)}' object does not support item assignment`);
}

function $delete(container, index) {
  if ($isList(container)) container.splice($place(index, container.length, "list"), 1);
  else if (container instanceof $Dict) {
    if (!container.entries.delete($key(index))) throw new $KeyError(index);
  } else if (typeof container?.__delitem__ === "function") container.__delitem__(index);
  else throw new $TypeError(`'${$typeName(container)}' object does not support item deletion`);
}

// The places that a slice takes.
function $places(length, start, stop, step) {
  const by = step === null ? 1 : Number(step);
  for (const bound of [start, stop, step])
    if (bound !== null && !$isInt(bound)) throw new $TypeError("slice indices must be integers or None");
  if (by === 0) throw new $ValueError("slice step cannot be zero");
  const [low, high] = by > 0 ? [0, length] : [-1, length - 1];
  const bounded = (bound) => {
    const place = Number(bound) < 0 ? Number(bound) + length : Number(bound);
    return Math.min(high, Math.max(low, place));
  };
  return new $Range(start === null ? (by > 0 ? low : high) : bounded(start), stop === null ? (by > 0 ? high : low) : bounded(stop), by);
}

function $slice(container, start = null, stop = null, step = null) {
  if (typeof container === "string") {
    const characters = Array.from(container);
    return Array.from($places(characters.length, start, stop, step), (place) => characters[place]).join("");
  }
  if (container instanceof $Range) {
    const places = $places(container.length, start, stop, step);
    return new $Range(container.start + places.start * container.step, container.start + places.stop * container.step, places.step * container.step);
  }
  if (!Array.isArray(container)) throw new $TypeError(`'${$typeName(container)}' object is not subscriptable`);
  const chosen = Array.from($places(container.length, start, stop, step), (place) => container[place]);
  return $isList(container) ? chosen : $tuple(chosen);
}

function $setslice(container, start, stop, step, values) {
  if (!$isList(container)) throw new $TypeError(`'${$typeName(container)}' object does not support item assignment`);
  const places = $places(container.length, start, stop, step);
  const given = [...$iter(values)];
  if (places.step === 1) {
    container.splice(places.start, places.length, ...given);
    return;
  }
  if (given.length !== places.length)
    throw new $ValueError(`attempt to assign sequence of size ${given.length} to extended slice of size ${places.length}`);
  [...places].forEach((place, number) => {
    container[place] = given[number];
  });
}

function $delslice(container, start, stop, step) {
  if (!$isList(container)) throw new $TypeError(`'${$typeName(container)}' object does not support item deletion`);
  const gone = new Set($places(container.length, start, stop, step));
  container.splice(0, container.length, ...container.filter((_, place) => !gone.has(place)));
}
