// Python's own functions.

function $list(values = []) {
  return [...$iter(values)];
}

function $tuple(values = []) {
  const made = new $Tuple();
  for (const value of $iter(values)) made.push(value);
  return made;
}

function $dict(values = []) {
  if (values instanceof $Dict) return new $Dict($items(values));
  return new $Dict($unpacked(values, 2));
}

function $setof(values = []) {
  return new $Set($elements(values));
}

function $range(start, stop = null, step = 1) {
  for (const bound of [start, stop ?? 0, step])
    if (!$isInt(bound)) throw new $TypeError(`'${$typeName(bound)}' object cannot be interpreted as an integer`);
  if (Number(step) === 0) throw new $ValueError("range() arg 3 must not be zero");
  return stop === null ? new $Range(0, Number(start), Number(step)) : new $Range(Number(start), Number(stop), Number(step));
}

function* $enumerate(values, start = 0) {
  let place = start;
  for (const value of $iter(values)) {
    yield new $Tuple(place, value);
    place = $add(place, 1);
  }
}

function* $zip(...sequences) {
  const iterators = sequences.map((one) => $iter(one)[Symbol.iterator]());
  while (iterators.length) {
    const together = new $Tuple();
    for (const iterator of iterators) {
      const { done, value } = iterator.next();
      if (done) return;
      together.push(value);
    }
    yield together;
  }
}

function* $map(made, ...sequences) {
  for (const values of $zip(...sequences)) yield $call(made, ...values);
}

function* $filter(test, values) {
  for (const value of $iter(values)) if ($truth(test === null ? value : $call(test, value))) yield value;
}

function* $reversed(values) {
  for (let place = $len(values) - 1; place >= 0; place--) yield $get(values, place);
}

function $any(values) {
  for (const value of values instanceof $Set ? $elements(values) : $iter(values)) if ($truth(value)) return true;
  return false;
}

function $all(values) {
  for (const value of values instanceof $Set ? $elements(values) : $iter(values)) if (!$truth(value)) return false;
  return true;
}

function $sum(values, start = 0) {
  let total = start;
  for (const value of $elements(values)) total = $add(total, value);
  return total;
}

function $best(values, better, options) {
  const among = values.length === 1 ? $elements(values[0]) : values;
  if (among.length === 0) {
    if (options.default !== undefined) return options.default;
    throw new $ValueError("iterable argument is empty");
  }
  const rank = (value) => (options.key === undefined || options.key === null ? value : $call(options.key, value));
  let [found, highest] = [among[0], rank(among[0])];
  for (const value of among.slice(1)) {
    const other = rank(value);
    if (better(other, highest)) [found, highest] = [value, other];
  }
  return found;
}

function $min(...values) {
  return $best(values, $lt, {});
}

function $max(...values) {
  return $best(values, $gt, {});
}

function $sorted(values, key = null, reverse = false) {
  const ranked = $elements(values).map((value) => [key === null ? value : $call(key, value), value]);
  const order = ([a], [b]) => ($lt(a, b) ? -1 : $lt(b, a) ? 1 : 0);
  ranked.sort($truth(reverse) ? (a, b) => order(b, a) : order);
  return ranked.map(([, value]) => value);
}

function $bool(value = false) {
  return $truth(value);
}

function $float(value = 0) {
  if ($isNumber(value)) return new $Float($real(value));
  const text = $strip($text(value, "float()"));
  if (/^[+-]?(\d+(_\d+)*)?\.?(\d+(_\d+)*)?(e[+-]?\d+)?$/i.test(text) && /\d/.test(text.split(/e/i)[0])) return new $Float(Number(text.replaceAll("_", "")));
  const word = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (word === null) throw new $ValueError(`could not convert string to float: ${$repr(value)}`);
  return new $Float(word[2].toLowerCase() === "nan" ? NaN : word[1] === "-" ? -Infinity : Infinity);
}

function $text(value, what) {
  if (typeof value !== "string") throw new $TypeError(`${what} argument must be a string or a number, not '${$typeName(value)}'`);
  return value;
}

// The value of any script's decimal digit; their rows of ten follow one another in Unicode.
function $digit(character) {
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(character.codePointAt(0) - before - 1))) before++;
  return before % 10;
}

function $int(value = 0, base = null) {
  if (base === null && $isInt(value)) return typeof value === "boolean" ? Number(value) : value;
  if (base === null && value instanceof $Float) {
    if (!Number.isFinite(value.value)) throw new ($nanOrNot(value))("cannot convert float infinity or NaN to integer");
    return $integer(BigInt(Math.trunc(value.value)));
  }
  let text = $strip($text(value, "int()")).replace(/[^\0-\x7f]/gu, (one) => (/\p{Nd}/u.test(one) ? $digit(one) : one)).toLowerCase();
  let radix = base === null ? 10 : Number(base);
  const refuse = () => new $ValueError(`invalid literal for int() with base ${radix}: ${$repr(value)}`);
  const sign = /^[+-]/.test(text) ? text[0] : "";
  text = text.slice(sign.length);
  const prefixed = { "0x": 16, "0o": 8, "0b": 2 }[text.slice(0, 2)];
  if (prefixed !== undefined && (radix === prefixed || radix === 0)) {
    radix = prefixed;
    text = text.slice(2).replace(/^_/, "");
  } else if (radix === 0) {
    if (/^0[0_]*[1-9]/.test(text)) throw refuse();
    radix = 10;
  }
  if (!/^[0-9a-z]+(_[0-9a-z]+)*$/.test(text)) throw refuse();
  let number = 0n;
  for (const character of text.replaceAll("_", "")) {
    const digit = Number.parseInt(character, 36);
    if (digit >= radix) throw refuse();
    number = number * BigInt(radix) + BigInt(digit);
  }
  return $integer(sign === "-" ? -number : number);
}

function $nanOrNot(value) {
  return Number.isNaN(value.value) ? $ValueError : $OverflowError;
}

function $ord(text) {
  if ($len(text) !== 1) throw new $TypeError("ord() expected a character");
  return text.codePointAt(0);
}

function $chr(number) {
  if (number < 0 || number > 0x10ffff) throw new $ValueError("chr() arg not in range(0x110000)");
  return String.fromCodePoint(Number(number));
}

function $print(values, sep = null, end = null, file = null) {
  (file ?? $sys.stdout).write(Array.from(values, $str).join(sep ?? " ") + (end ?? "\n"));
  return null;
}

function $iterator(value) {
  return $iter(value)[Symbol.iterator]();
}

function $next(iterator, other) {
  if (typeof iterator?.next !== "function") throw new $TypeError(`'${$typeName(iterator)}' object is not an iterator`);
  const { done, value } = iterator.next();
  if (!done) return value;
  if (other === undefined) throw new $StopIteration();
  return other;
}
