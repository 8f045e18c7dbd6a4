// What Python means, in JavaScript. An exported module gets those of these that it uses.
//
// None is null; an int is a number, beyond 2^53 a BigInt; a float is a $Float; a str is a string and counts code points;
// a list is an Array, a tuple a $Tuple, a dict a $Dict, a set a $Set, a range a $Range. Every declaration begins at the
// left margin after an empty line, and is found by the names with a dollar sign that others mention.

class $Object {
  constructor(...values) {
    this.__init__(...values);
  }

  __init__() {}
}

class $BaseException extends Error {
  constructor(...values) {
    super();
    this.args = new $Tuple(...values);
    if (this.__init__) this.__init__(...values);
  }

  get message() {
    return $str(this);
  }
}

class $SystemExit extends $BaseException {}

class $Exception extends $BaseException {}

class $ArithmeticError extends $Exception {}

class $ZeroDivisionError extends $ArithmeticError {}

class $OverflowError extends $ArithmeticError {}

class $LookupError extends $Exception {}

class $IndexError extends $LookupError {}

class $KeyError extends $LookupError {}

class $TypeError extends $Exception {}

class $ValueError extends $Exception {}

class $AttributeError extends $Exception {}

class $NameError extends $Exception {}

class $AssertionError extends $Exception {}

class $RuntimeError extends $Exception {}

class $NotImplementedError extends $RuntimeError {}

class $StopIteration extends $Exception {}

class $RecursionError extends $RuntimeError {}

// Ends a run from outside; no `except` sees it.
class $Interrupted extends Error {}

// What JavaScript itself throws, as Python would.
function $caught(error) {
  if (error instanceof $BaseException) return error;
  if (error instanceof RangeError && /call stack/.test(error.message)) return new $RecursionError(error.message);
  if (error instanceof TypeError) return new $TypeError(error.message);
  if (error instanceof ReferenceError) return new $NameError(error.message);
  throw error;
}

class $Float {
  constructor(value) {
    this.value = value;
  }
}

class $Tuple extends Array {
  constructor(...values) {
    super();
    if (this.__init__) this.__init__(...values);
    else for (const value of values) this.push(value);
  }

  static get [Symbol.species]() {
    return Array;
  }
}

class $Range {
  constructor(start, stop, step) {
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.length = Math.max(0, Math.ceil((stop - start) / step));
  }

  *[Symbol.iterator]() {
    for (let place = 0; place < this.length; place++) yield this.start + place * this.step;
  }
}

class $Dict {
  constructor(pairs = []) {
    this.entries = new Map();
    for (const [key, value] of pairs) this.put(key, value);
  }

  put(key, value) {
    const text = $key(key);
    const entry = this.entries.get(text);
    if (entry === undefined) this.entries.set(text, [key, value]);
    else entry[1] = value;
  }

  find(key) {
    return this.entries.get($key(key));
  }

  *[Symbol.iterator]() {
    for (const [key] of this.entries.values()) yield key;
  }
}

class $Set {
  constructor(values = []) {
    this.entries = new Map();
    for (const value of values) this.put(value);
  }

  put(value) {
    const text = $key(value);
    if (!this.entries.has(text)) this.entries.set(text, value);
  }
}

function $isInt(value) {
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
}

function $isNumber(value) {
  return $isInt(value) || value instanceof $Float;
}

// A number that JavaScript's own operators take.
function $plain(value) {
  return value instanceof $Float ? value.value : value;
}

function $real(value) {
  return Number($plain(value)) + 0;
}

function $integer(value) {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

function $isList(value) {
  return Array.isArray(value) && !(value instanceof $Tuple);
}

function $typeName(value) {
  if (value === null) return "NoneType";
  if (typeof value === "boolean") return "bool";
  if ($isInt(value)) return "int";
  if (typeof value === "string") return "str";
  if (typeof value === "function") return "function";
  const kinds = [[$Float, "float"], [$Dict, "dict"], [$Set, "set"], [$Range, "range"]];
  for (const [kind, name] of kinds) if (value instanceof kind) return name;
  if (value.constructor === $Tuple) return "tuple";
  if (value.constructor === Array) return "list";
  return (value.constructor?.name ?? "object").replace(/^\$/, "");
}

// An attribute of a class, which its objects have until they are given one of their own.
function $attribute(kind, name, value) {
  Object.defineProperty(kind, name, { value, writable: true, configurable: true });
  Object.defineProperty(kind.prototype, name, {
    configurable: true,
    get() {
      return this.constructor[name];
    },
    set(own) {
      Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
    },
  });
}

function $record(kind, fields, { equal = false, ordered = false, hashed = false } = {}) {
  kind.$fields = fields;
  kind.$hashed = hashed;
  const values = (one) => new $Tuple(...fields.map((name) => one[name]));
  const same = (one, other) => other?.constructor === one.constructor;
  const method = (name, made) => {
    if (!Object.hasOwn(kind.prototype, name)) Object.defineProperty(kind.prototype, name, { value: made, configurable: true });
  };
  if (equal) method("__eq__", function (other) { return same(this, other) && $eq(values(this), values(other)); });
  if (!ordered) return;
  for (const [name, compare] of [["__lt__", $lt], ["__le__", $le], ["__gt__", $gt], ["__ge__", $ge]])
    method(name, function (other) {
      if (!same(this, other)) throw $unsupported(name, this, other);
      return compare(values(this), values(other));
    });
}

function $replace(value, changes) {
  return new value.constructor(...value.constructor.$fields.map((name) => (Object.hasOwn(changes, name) ? changes[name] : value[name])));
}

function $getattr(value, name, other) {
  const found = value?.[name];
  if (found !== undefined) return typeof found === "function" ? found.bind(value) : found;
  if (other !== undefined) return other;
  throw new $AttributeError(`'${$typeName(value)}' object has no attribute '${name}'`);
}

// A method of a class of the module, or of a list, dict, set or str, whichever the value is.
function $method(value, name, own) {
  const known = typeof value === "object" && value !== null && typeof value[name] === "function" && !(value.constructor === Array || value.constructor === $Tuple);
  return known && !(value instanceof $Dict || value instanceof $Set) ? value[name].bind(value) : (...values) => own(value, ...values);
}

// A method of a class without its object, which is then given first; a static one has none.
function $unbound(kind, name) {
  if (typeof kind[name] === "function") return kind[name].bind(kind);
  return (subject, ...values) => kind.prototype[name].apply(subject, values);
}

function $call(made, ...values) {
  if (typeof made !== "function" && typeof made?.__call__ === "function") return made.__call__(...values);
  if (typeof made !== "function") throw new $TypeError(`'${$typeName(made)}' object is not callable`);
  return made.prototype instanceof $Object || made.prototype instanceof $Tuple || made.prototype instanceof $BaseException
    ? new made(...values)
    : made(...values);
}

function $isinstance(value, kinds) {
  if (Array.isArray(kinds)) return kinds.some((kind) => $isinstance(value, kind));
  if (typeof kinds !== "string") return value instanceof kinds;
  if (kinds === "int") return $isInt(value);
  if (kinds === "list") return $isList(value);
  if (kinds === "tuple") return value instanceof $Tuple;
  return $typeName(value) === kinds;
}

// The class of an object of the module.
function $kind(value) {
  if (value instanceof $Object || value instanceof $Tuple || value instanceof $BaseException) return value.constructor;
  throw new $TypeError(`the class of a ${$typeName(value)} is not translated`);
}
