/** Cached header lines. Real traffic repeats the same few, and the bound keeps hostile values from filling memory. */
const knownLinesMax = 512;
/** Longer values are not cached: their check is cheap in proportion, and they would cost memory. */
const knownValueCharactersMax = 512;

const namePattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
/** No space and no control character, so that a request line has exactly its three parts. */
const pathPattern = /^\/[\x21-\x7e]*$/;

/** Headers that the encoder writes itself, or that would change how the request is read. */
const reserved = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade']);

/** Writes the heads of requests to one origin. */
export type RequestHeadEncoder = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  /** Length of the body in bytes. */
  bodyBytes: number,
) => string;

/**
 * Makes an encoder. `host` is from a parsed URL. A head has one character per byte. The encoder throws a TypeError for
 * a path or header that would change the structure: a line end in a value would begin a second header or request.
 */
export function createRequestHeadEncoder(host: string): RequestHeadEncoder {
  /** The last line of each header name, with its value. */
  const known = new Map<string, { readonly value: string; readonly line: string }>();
  const encodeLine = (name: string, value: string): string => {
    const last = known.get(name);
    if (last !== undefined && last.value === value) return last.line;
    const isValid = namePattern.test(name) && valuePattern.test(value) && !reserved.has(name.toLowerCase());
    if (!isValid) throw new TypeError(`the request header ${JSON.stringify(name)} is not valid`);
    const line = `${name}: ${value}\r\n`;
    if (value.length <= knownValueCharactersMax && (last !== undefined || known.size < knownLinesMax)) known.set(name, { value, line });
    return line;
  };
  return (method, path, headers, bodyBytes) => {
    if (!pathPattern.test(path)) throw new TypeError('the path of a request is not valid');
    let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
    for (const name in headers) head += encodeLine(name, headers[name] ?? '');
    return `${head}content-length: ${bodyBytes}\r\n\r\n`;
  };
}
