// Truth, equality, order, and keys of dicts and sets.

function $truth(value) {
  if (typeof value !== "object" || value === null) return Boolean(value);
  if (Array.isArray(value) || value instanceof $Range) return value.length > 0;
  if (value instanceof $Dict || value instanceof $Set) return value.entries.size > 0;
  if (value instanceof $Float) return value.value !== 0;
  if (typeof value.__bool__ === "function") return value.__bool__();
  if (typeof value.__len__ === "function") return value.__len__() !== 0;
  return true;
}

function $and(value, other) {
  return $truth(value) ? other() : value;
}

function $or(value, other) {
  return $truth(value) ? value : other();
}

function $same(a, b) {
  return a === b || $eq(a, b);
}

function $eq(a, b) {
  if ($isNumber(a) && $isNumber(b)) return $plain(a) == $plain(b); // eslint-disable-line eqeqeq
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    if (typeof a?.__eq__ === "function") return $truth(a.__eq__(b));
    return typeof b?.__eq__ === "function" ? $truth(b.__eq__(a)) : a === b;
  }
  if (Array.isArray(a) && Array.isArray(b))
    return $isList(a) === $isList(b) && a.length === b.length && a.every((value, place) => $same(value, b[place]));
  if (a instanceof $Range && b instanceof $Range)
    return a.length === b.length && (!a.length || (a.start === b.start && (a.length === 1 || a.step === b.step)));
  if ((a instanceof $Set && b instanceof $Set) || (a instanceof $Dict && b instanceof $Dict)) {
    if (a.entries.size !== b.entries.size) return false;
    for (const [key, entry] of a.entries) {
      const other = b.entries.get(key);
      if (!b.entries.has(key) || (a instanceof $Dict && !$same(entry[1], other[1]))) return false;
    }
    return true;
  }
  if (typeof a.__eq__ === "function") return $truth(a.__eq__(b));
  if (typeof b.__eq__ === "function") return $truth(b.__eq__(a));
  return a === b;
}

function $ne(a, b) {
  return !$eq(a, b);
}

// Whether a is less than b, or if `equal` holds, not greater.
function $before(symbol, a, b, equal) {
  if ($isNumber(a) && $isNumber(b)) return equal ? $plain(a) <= $plain(b) : $plain(a) < $plain(b);
  if (typeof a === "string" && typeof b === "string") {
    const [first, second] = [Array.from(a, (one) => one.codePointAt(0)), Array.from(b, (one) => one.codePointAt(0))];
    return $lexical(symbol, first, second, equal);
  }
  if (Array.isArray(a) && Array.isArray(b) && $isList(a) === $isList(b)) return $lexical(symbol, a, b, equal);
  if (a instanceof $Set && b instanceof $Set)
    return $elements(a).every((value) => $in(value, b)) && (equal || a.entries.size < b.entries.size);
  throw new $TypeError(`'${symbol}' not supported between instances of '${$typeName(a)}' and '${$typeName(b)}'`);
}

function $lexical(symbol, a, b, equal) {
  for (let place = 0; place < a.length && place < b.length; place++)
    if (!$same(a[place], b[place])) return equal ? $le(a[place], b[place]) : $lt(a[place], b[place]);
  return equal ? a.length <= b.length : a.length < b.length;
}

function $lt(a, b) {
  if (typeof a === "number" && typeof b === "number") return a < b;
  if (typeof a?.__lt__ === "function") return $truth(a.__lt__(b));
  return typeof b?.__gt__ === "function" ? $truth(b.__gt__(a)) : $before("<", a, b, false);
}

function $le(a, b) {
  if (typeof a === "number" && typeof b === "number") return a <= b;
  if (typeof a?.__le__ === "function") return $truth(a.__le__(b));
  return typeof b?.__ge__ === "function" ? $truth(b.__ge__(a)) : $before("<=", a, b, true);
}

function $gt(a, b) {
  if (typeof a === "number" && typeof b === "number") return a > b;
  if (typeof a?.__gt__ === "function") return $truth(a.__gt__(b));
  return typeof b?.__lt__ === "function" ? $truth(b.__lt__(a)) : $before(">", b, a, false);
}

function $ge(a, b) {
  if (typeof a === "number" && typeof b === "number") return a >= b;
  if (typeof a?.__ge__ === "function") return $truth(a.__ge__(b));
  return typeof b?.__le__ === "function" ? $truth(b.__le__(a)) : $before(">=", b, a, true);
}

function $in(value, container) {
  if (typeof container === "string") {
    if (typeof value !== "string") throw new $TypeError("'in <string>' requires string as left operand");
    return container.includes(value);
  }
  if (container instanceof $Set || container instanceof $Dict) return container.entries.has($key(value));
  if (typeof container?.__contains__ === "function") return $truth(container.__contains__(value));
  for (const one of $iter(container)) if ($same(one, value)) return true;
  return false;
}

const $numbered = new WeakMap();

// Values that are equal have equal keys.
function $key(value) {
  if ($isInt(value)) return `n${Number.isInteger(Number(value)) && typeof value !== "bigint" ? Number(value) + 0 : value}`;
  if (value === null) return "None";
  if (typeof value === "string") return `s${value.length}:${value}`;
  if (value instanceof $Float) return Number.isInteger(value.value) ? $key($int(value)) : `f${value.value}`;
  if (value instanceof $Tuple) return `(${Array.from(value, $key).join(",")})`;
  if (value.constructor?.$hashed) return `${value.constructor.name}(${value.constructor.$fields.map((name) => $key(value[name])).join(",")})`;
  if (typeof value.__hash__ === "function") return `h${$key(value.__hash__())}`;
  if (Array.isArray(value) || value instanceof $Dict || value instanceof $Set || typeof value.__eq__ === "function")
    throw new $TypeError(`unhashable type: '${$typeName(value)}'`);
  if (!$numbered.has(value)) {
    $key.count = ($key.count ?? 0) + 1;
    $numbered.set(value, $key.count);
  }
  return `o${$numbered.get(value)}`;
}
