// Operators on numbers, sequences and sets.

function $unsupported(symbol, a, b) {
  return new $TypeError(`unsupported operand type(s) for ${symbol}: '${$typeName(a)}' and '${$typeName(b)}'`);
}

function $calculate(symbol, method, a, b, whole, real) {
  if ($isInt(a) && $isInt(b)) return $integer(whole(BigInt(a), BigInt(b)));
  if ($isNumber(a) && $isNumber(b)) return new $Float(real($real(a), $real(b)));
  if (typeof a?.[method] === "function") return a[method](b);
  throw $unsupported(symbol, a, b);
}

function $add(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (Array.isArray(a) && Array.isArray(b) && $isList(a) === $isList(b)) {
    const both = [...a, ...b];
    return $isList(a) ? both : $tuple(both);
  }
  return $calculate("+", "__add__", a, b, (x, y) => x + y, (x, y) => x + y);
}

function $sub(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  if (a instanceof $Set && b instanceof $Set) return new $Set($elements(a).filter((value) => !b.entries.has($key(value))));
  return $calculate("-", "__sub__", a, b, (x, y) => x - y, (x, y) => x - y);
}

function $mul(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product;
  }
  if ($isInt(a) && (typeof b === "string" || Array.isArray(b))) return $mul(b, a);
  if ($isInt(b) && typeof a === "string") return a.repeat(Math.max(0, Number(b)));
  if ($isInt(b) && Array.isArray(a)) {
    const many = [];
    for (let time = 0; time < b; time++) for (const value of a) many.push(value);
    return $isList(a) ? many : $tuple(many);
  }
  return $calculate("*", "__mul__", a, b, (x, y) => x * y, (x, y) => x * y);
}

function $divisor(a, b) {
  if ($isNumber(a) && $isNumber(b) && Number($plain(b)) === 0) throw new $ZeroDivisionError("division by zero");
}

function $div(a, b) {
  $divisor(a, b);
  if ($isNumber(a) && $isNumber(b)) return new $Float($real(a) / $real(b));
  return $calculate("/", "__truediv__", a, b);
}

function $floordiv(a, b) {
  $divisor(a, b);
  const whole = (x, y) => x / y - (x % y !== 0n && x % y < 0n !== y < 0n ? 1n : 0n);
  return $calculate("//", "__floordiv__", a, b, whole, (x, y) => {
    let rest = x % y;
    let quotient = (x - rest) / y;
    if (rest !== 0 && rest < 0 !== y < 0) quotient -= 1;
    const floor = Math.floor(quotient);
    return quotient === 0 ? (x / y < 0 || Object.is(x / y, -0) ? -0 : 0) : quotient - floor > 0.5 ? floor + 1 : floor;
  });
}

function $mod(a, b) {
  if (typeof a === "string") throw new $TypeError("the operator % of a str is not translated");
  $divisor(a, b);
  if (typeof a === "number" && typeof b === "number") {
    const rest = a % b;
    return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
  }
  return $calculate("%", "__mod__", a, b, (x, y) => (x % y !== 0n && x % y < 0n !== y < 0n ? (x % y) + y : x % y), (x, y) => {
    const rest = x % y;
    if (rest === 0) return y < 0 ? -0 : 0;
    return rest < 0 !== y < 0 ? rest + y : rest;
  });
}

function $pow(a, b) {
  if ($isNumber(a) && $isNumber(b) && Number($plain(a)) === 0 && Number($plain(b)) < 0)
    throw new $ZeroDivisionError("0.0 cannot be raised to a negative power");
  if ($isInt(a) && $isInt(b) && b < 0) return new $Float($real(a) ** $real(b));
  return $calculate("**", "__pow__", a, b, (x, y) => x ** y, (x, y) => {
    if (x < 0 && !Number.isInteger(y)) throw new $ValueError("a complex number is not translated");
    return x ** y;
  });
}

function $bits(symbol, method, a, b, whole, truth, chosen) {
  if (typeof a === "boolean" && typeof b === "boolean") return truth(a, b);
  if (a instanceof $Set && b instanceof $Set) return new $Set(chosen(a, b));
  if ($isNumber(a) && $isNumber(b) && !($isInt(a) && $isInt(b))) throw $unsupported(symbol, a, b);
  return $calculate(symbol, method, a, b, whole);
}

function $bitand(a, b) {
  return $bits("&", "__and__", a, b, (x, y) => x & y, (x, y) => x && y, (x, y) => $elements(x).filter((one) => $in(one, y)));
}

function $bitor(a, b) {
  if (a instanceof $Dict && b instanceof $Dict) return new $Dict([...$items(a), ...$items(b)]);
  return $bits("|", "__or__", a, b, (x, y) => x | y, (x, y) => x || y, (x, y) => [...$elements(x), ...$elements(y)]);
}

function $bitxor(a, b) {
  return $bits("^", "__xor__", a, b, (x, y) => x ^ y, (x, y) => x !== y,
    (x, y) => [...$elements(x).filter((one) => !$in(one, y)), ...$elements(y).filter((one) => !$in(one, x))]);
}

function $shift(symbol, method, a, b, whole) {
  if ($isInt(a) && $isInt(b) && b < 0) throw new $ValueError("negative shift count");
  if (a instanceof $Float || b instanceof $Float) throw $unsupported(symbol, a, b);
  return $calculate(symbol, method, a, b, whole);
}

function $lshift(a, b) {
  return $shift("<<", "__lshift__", a, b, (x, y) => x << y);
}

function $rshift(a, b) {
  return $shift(">>", "__rshift__", a, b, (x, y) => x >> y);
}

function $neg(value) {
  if (value instanceof $Float) return new $Float(-value.value);
  if (typeof value?.__neg__ === "function") return value.__neg__();
  return $sub(0, value);
}

function $pos(value) {
  return value instanceof $Float ? value : $add(0, value);
}

function $invert(value) {
  if (!$isInt(value)) throw new $TypeError(`bad operand type for unary ~: '${$typeName(value)}'`);
  return $sub(-1, value);
}

// `+=` and its like change lists, sets and dicts in place.
function $iadd(a, b) {
  if (!$isList(a)) return $add(a, b);
  for (const value of [...$iter(b)]) a.push(value);
  return a;
}

function $inplace(a, result) {
  if ($isList(a)) a.splice(0, a.length, ...result);
  else if (a instanceof $Set || a instanceof $Dict) a.entries = result.entries;
  else return result;
  return a;
}

function $abs(value) {
  return $lt(value, 0) ? $neg(value) : $pos(value);
}

function $divmod(a, b) {
  return new $Tuple($floordiv(a, b), $mod(a, b));
}
