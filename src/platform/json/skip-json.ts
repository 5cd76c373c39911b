const QUOTE = 0x22;
const BACKSLASH = 0x5c;
// A call of native code costs about as much as checking this number of bytes here.
const NEAR_BYTES = 48;

/** The position of the first byte at or after `position` that is not JSON white space, but not beyond `end`. */
export function skipWhiteSpace(bytes: Buffer, position: number, end = bytes.length): number {
  let at = position;
  for (; at < end; at++) {
    const byte = bytes[at] ?? 0x7f;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return at;
  }
  return at;
}

/**
 * The position after the closing quote of the string that opens at `position`; the length of `bytes` when it does not
 * close.
 */
export function skipString(bytes: Buffer, position: number): number {
  let at = position + 1;
  const near = Math.min(bytes.length, at + NEAR_BYTES);
  while (at < near) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return skipLongString(bytes, at);
}

/** Native search for long stretches; near an escape byte by byte, because strings with one escape often have many. */
function skipLongString(bytes: Buffer, position: number): number {
  let at = position;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let slashes = 0;
    while (quote - slashes > at && bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
    for (let plain = 0; plain < NEAR_BYTES && at < bytes.length; plain++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) {
        plain = 0;
        at++;
      }
      at++;
    }
  }
}

/** The position after the value that begins at `position`, in valid JSON. It ends on any input. */
export function skipValue(bytes: Buffer, position: number): number {
  const first = bytes[position];
  if (first === QUOTE) return skipString(bytes, position);
  if (first !== 0x7b && first !== 0x5b) return skipScalar(bytes, position);
  let depth = 0;
  let at = position;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at++;
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at;
  }
  return bytes.length;
}

function skipScalar(bytes: Buffer, position: number): number {
  let at = position;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte <= 0x20 || byte === 0x2c || byte === 0x5d || byte === 0x7d) return at;
    at++;
  }
  return at;
}
