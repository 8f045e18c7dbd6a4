// Texts: how values are written, and methods of strings.

function $floatText(value) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [digits, power] = value.toExponential().split("e");
  if (Number(power) < -4 || Number(power) >= 16) return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  const text = Math.abs(value) >= 1e-6 ? String(value) : value.toFixed(20).replace(/0+$/, "");
  return text.includes(".") ? text : `${text}.0`;
}

function $str(value = "") {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value?.__str__ === "function") return value.__str__();
  if (value instanceof $BaseException) {
    if (value.args.length === 0) return "";
    if (value.args.length > 1) return $repr(value.args);
    return value instanceof $KeyError ? $repr(value.args[0]) : $str(value.args[0]);
  }
  return $repr(value);
}

function $repr(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "string") return $quoted(value);
  if (value instanceof $Float) return $floatText(value.value);
  if (typeof value?.__repr__ === "function") return value.__repr__();
  if (value?.constructor?.$fields)
    return `${$typeName(value)}(${value.constructor.$fields.map((name) => `${name.replace(/\$$/, "")}=${$repr(value[name])}`).join(", ")})`;
  if (value instanceof $Tuple) return value.length === 1 ? `(${$repr(value[0])},)` : `(${Array.from(value, $repr).join(", ")})`;
  if (Array.isArray(value)) return `[${value.map($repr).join(", ")}]`;
  if (value instanceof $Dict) return `{${$items(value).map(([key, one]) => `${$repr(key)}: ${$repr(one)}`).join(", ")}}`;
  if (value instanceof $Set) return value.entries.size ? `{${$elements(value).map($repr).join(", ")}}` : "set()";
  if (value instanceof $Range) return `range(${value.start}, ${value.stop}${value.step === 1 ? "" : `, ${value.step}`})`;
  if (value instanceof $BaseException) return `${$typeName(value)}(${Array.from(value.args, $repr).join(", ")})`;
  return `<${$typeName(value)} object>`;
}

function $quoted(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const named = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", [quote]: `\\${quote}` };
  const inside = Array.from(text, (one) => {
    if (one in named) return named[one];
    if (one === " " || !/[\p{C}\p{Z}]/u.test(one)) return one;
    const code = one.codePointAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
  });
  return quote + inside.join("") + quote;
}

// A replacement field of an f-string, with its format specification.
function $format(value, spec) {
  if (spec === "") return $str(value);
  const parts = /^(?:(.)?([<>=^]))?([+\- ])?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdoxXfFs])?$/su.exec(spec);
  if (parts === null || !($isNumber(value) || typeof value === "string"))
    throw new $ValueError(`the format specification ${$repr(spec)} of a ${$typeName(value)} is not translated`);
  let [, fill, align, sign, zero, width, comma, precision, kind] = parts;
  const numeric = $isNumber(value) && !(typeof value === "boolean" && kind === undefined && false);
  let [lead, body] = ["", ""];
  if (!numeric) {
    if ((kind ?? "s") !== "s" || sign || comma || align === "=") throw new $ValueError(`Unknown format code for object of type 'str'`);
    body = precision === undefined ? value : $slice(value, 0, Number(precision));
  } else {
    const negative = $plain(value) < 0 || Object.is($plain(value), -0);
    const size = $abs(value);
    const radix = { b: 2, o: 8, x: 16, X: 16 }[kind];
    if (kind === "s" || kind === "c") throw new $ValueError(`the format code '${kind}' of a number is not translated`);
    if (kind === "f" || kind === "F") body = $fixed($real(size), precision === undefined ? 6 : Number(precision));
    else if (value instanceof $Float && (kind !== undefined || precision !== undefined)) throw new $ValueError("this format of a float is not translated");
    else if (precision !== undefined) throw new $ValueError("Precision not allowed in integer format specifier");
    else body = radix === undefined ? $str(size) : BigInt($int(size)).toString(radix);
    if (kind === "X") body = body.toUpperCase();
    const [whole, rest] = body.split(/(?=\.)/);
    if (comma) body = whole.replace(radix ? /\B(?=(?:.{4})+$)/g : /\B(?=(?:.{3})+$)/g, comma) + (rest ?? "");
    lead = negative ? "-" : sign === "+" || sign === " " ? sign : "";
  }
  if (zero && align === undefined) [fill, align] = ["0", numeric ? "=" : "<"];
  if (zero && fill === undefined) fill = "0";
  const missing = (fill ?? " ").repeat(Math.max(0, Number(width ?? 0) - $len(lead + body)));
  if (align === "=") return lead + missing + body;
  const side = align ?? (numeric ? ">" : "<");
  if (side === "<") return lead + body + missing;
  if (side === ">") return missing + lead + body;
  const half = Math.floor(Array.from(missing).length / 2);
  return $slice(missing, 0, half) + lead + body + $slice(missing, half);
}

// Digits after the point, the exact value rounded half to even.
function $fixed(value, digits) {
  if (!Number.isFinite(value)) return $floatText(value);
  let [power, scaled] = [0, value];
  while (!Number.isInteger(scaled)) [power, scaled] = [power + 1, scaled * 2];
  const [top, bottom] = [BigInt(scaled) * 10n ** BigInt(digits), 1n << BigInt(power)];
  let number = top / bottom;
  const twice = (top % bottom) * 2n;
  if (twice > bottom || (twice === bottom && number % 2n === 1n)) number += 1n;
  const text = String(number).padStart(digits + 1, "0");
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

const $SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";

function $strip(text, characters = null, sides = "both") {
  $of(text, ["str"], "strip");
  const all = Array.from(text);
  const gone = characters === null ? new RegExp($SPACE) : null;
  const outside = (one) => (gone === null ? characters.includes(one) : gone.test(one));
  let [start, end] = [0, all.length];
  if (sides !== "right") while (start < end && outside(all[start])) start++;
  if (sides !== "left") while (end > start && outside(all[end - 1])) end--;
  return all.slice(start, end).join("");
}

function $lstrip(text, characters = null) {
  return $strip(text, characters, "left");
}

function $rstrip(text, characters = null) {
  return $strip(text, characters, "right");
}

function $split(text, by = null, most = -1) {
  $of(text, ["str"], "split");
  if (by === "") throw new $ValueError("empty separator");
  if (by === null) {
    const words = [];
    let rest = $lstrip(text);
    while (rest !== "" && (most < 0 || words.length < most)) {
      const [word] = new RegExp(`^(?!${$SPACE})[^]*?(?=${$SPACE}|$)`).exec(rest);
      words.push(word);
      rest = $lstrip(rest.slice(word.length));
    }
    return rest === "" ? words : [...words, rest];
  }
  const parts = text.split(by);
  return most < 0 || parts.length <= most + 1 ? parts : [...parts.slice(0, most), parts.slice(most).join(by)];
}

function $splitlines(text) {
  $of(text, ["str"], "splitlines");
  const lines = text.split(/\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function $join(between, values) {
  $of(between, ["str"], "join");
  return $list(values).map((value) => {
    if (typeof value !== "string") throw new $TypeError(`sequence item: expected str instance, ${$typeName(value)} found`);
    return value;
  }).join(between);
}

function $substitute(text, old, other, most = -1) {
  $of(text, ["str"], "replace");
  if (most < 0) return old === "" ? other + Array.from(text, (one) => one + other).join("") : text.split(old).join(other);
  const parts = $split(text, old, most);
  return parts.join(other);
}

function $find(text, part, start = 0, stop = null) {
  $of(text, ["str"], "find");
  const length = $len(text);
  const { start: first } = $places(length, start, stop, null);
  if (start > length) return -1;
  const place = $slice(text, start, stop).indexOf(part);
  return place < 0 ? -1 : first + $len($slice(text, start, stop).slice(0, place));
}

function $startswith(text, part) {
  $of(text, ["str"], "startswith");
  return part instanceof $Tuple ? part.some((one) => text.startsWith(one)) : text.startsWith(part);
}

function $endswith(text, part) {
  $of(text, ["str"], "endswith");
  return part instanceof $Tuple ? part.some((one) => text.endsWith(one)) : text.endsWith(part);
}

function $partition(text, by) {
  $of(text, ["str"], "partition");
  const place = text.indexOf(by);
  return place < 0 ? new $Tuple(text, "", "") : new $Tuple(text.slice(0, place), by, text.slice(place + by.length));
}

function $lower(text) {
  $of(text, ["str"], "lower");
  return text.toLowerCase();
}

function $upper(text) {
  $of(text, ["str"], "upper");
  return text.toUpperCase();
}

function $every(text, name, pattern) {
  $of(text, ["str"], name);
  return text !== "" && Array.from(text).every((one) => pattern.test(one));
}

function $isdecimal(text) {
  return $every(text, "isdecimal", /^\p{Nd}$/u);
}

function $isdigit(text) {
  return $every(text, "isdigit", /^[\p{Nd}\xb2\xb3\xb9\u2070\u2074-\u2079\u2080-\u2089]$/u);
}

function $isalpha(text) {
  return $every(text, "isalpha", /^\p{L}$/u);
}

function $isspace(text) {
  return $every(text, "isspace", new RegExp(`^${$SPACE}$`));
}

function $pad(text, width, fill, side) {
  const missing = Math.max(0, Number(width) - $len(text));
  const left = side === "both" ? Math.floor(missing / 2) + (missing & Number(width) & 1) : side === "left" ? missing : 0;
  return fill.repeat(left) + text + fill.repeat(missing - left);
}

function $ljust(text, width, fill = " ") {
  $of(text, ["str"], "ljust");
  return $pad(text, width, fill, "right");
}

function $rjust(text, width, fill = " ") {
  $of(text, ["str"], "rjust");
  return $pad(text, width, fill, "left");
}

function $center(text, width, fill = " ") {
  $of(text, ["str"], "center");
  return $pad(text, width, fill, "both");
}

function $zfill(text, width) {
  $of(text, ["str"], "zfill");
  const sign = /^[+-]/.test(text) ? text[0] : "";
  return sign + $pad(text.slice(sign.length), Number(width) - sign.length, "0", "left");
}

function $removeprefix(text, part) {
  return $startswith(text, part) ? text.slice(part.length) : text;
}

function $removesuffix(text, part) {
  return part !== "" && $endswith(text, part) ? text.slice(0, -part.length) : text;
}
