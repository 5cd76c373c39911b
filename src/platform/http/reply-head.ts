import { InvalidReplyError } from './invalid-reply-error.ts';

/** Header names in lower case. A repeated header is a list. */
export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** How the end of a body is recognised (RFC 9112, section 6.3). */
type BodyFraming =
  | { readonly type: 'length'; readonly bytes: number }
  | { readonly type: 'chunked' }
  /** The body ends with the connection. */
  | { readonly type: 'until-close' };

export type ReplyHead = {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly framing: BodyFraming;
  /** Whether the connection may carry another request after this reply. */
  readonly keepsAlive: boolean;
};

/** 1 at the characters of a token (RFC 9110, section 5.6.2), of which header names consist. */
const tokenCharacters = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
  tokenCharacters[character.charCodeAt(0)] = 1;
}

const COLON = 0x3a;
const TAB = 0x09;
const SPACE = 0x20;
const DELETE = 0x7f;

/**
 * Reads the head of a reply: everything before the blank line, one character per byte. It is strict where leniency
 * would let two readers disagree about the end of a reply. It refuses folded lines, bare line ends, control characters,
 * a second or signed length, a length beside a transfer coding, and codings other than `chunked`.
 * @throws InvalidReplyError
 */
export function parseReplyHead(text: string): ReplyHead {
  const lineEnd = endOfLine(text, 0);
  const { status, isVersion10 } = parseStatusLine(text.slice(0, lineEnd));
  const headers: Record<string, string | string[]> = {};
  for (let at = lineEnd + 2; at < text.length;) {
    const end = endOfLine(text, at);
    const colon = endOfName(text, at, end);
    addHeader(headers, text.slice(at, colon).toLowerCase(), readValue(text, colon + 1, end));
    at = end + 2;
  }
  return { status, headers, framing: chooseFraming(status, headers), keepsAlive: !isVersion10 && !asksToClose(headers['connection']) };
}

/** Checks a line of a trailer. Trailers are not read, but they must not declare the length of the body before them. */
export function checkTrailer(line: string): void {
  const colon = endOfName(line, 0, line.length);
  if (/^(?:content-length|transfer-encoding)$/i.test(line.slice(0, colon))) throw new InvalidReplyError('its length comes after it');
  readValue(line, colon + 1, line.length);
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\r\n', start);
  return end === -1 ? text.length : end;
}

const plainSuccess = { status: 200, isVersion10: false } as const;

function parseStatusLine(line: string): { readonly status: number; readonly isVersion10: boolean } {
  // Nearly every reply begins with this line.
  if (line === 'HTTP/1.1 200 OK') return plainSuccess;
  const match = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/.exec(line);
  if (match === null) throw new InvalidReplyError('the status line cannot be read');
  return { status: Number(match[2]), isVersion10: match[1] === '0' };
}

/** The position of the colon after the header name that begins at `start`. */
function endOfName(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && tokenCharacters[text.charCodeAt(at)] === 1) at++;
  if (at === start || at === end || text.charCodeAt(at) !== COLON) throw new InvalidReplyError('a header name cannot be read');
  return at;
}

/**
 * A header value without the white space around it. Tabs at its end stay, as in Node's parser, which counts them as
 * part of a length or a transfer coding. Both are then refused here; otherwise one reader would see chunks and another
 * none.
 */
function readValue(text: string, start: number, end: number): string {
  let first = start;
  let last = end;
  while (first < last && isBlank(text.charCodeAt(first))) first++;
  while (last > first && text.charCodeAt(last - 1) === SPACE) last--;
  for (let at = first; at < last; at++) {
    const code = text.charCodeAt(at);
    if ((code < SPACE && code !== TAB) || code === DELETE) throw new InvalidReplyError('a header value holds a control character');
  }
  return text.slice(first, last);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function addHeader(headers: Record<string, string | string[]>, name: string, value: string): void {
  // Assigning to this name would change the object's prototype; no real header has it.
  if (name === '__proto__') return;
  if (!Object.hasOwn(headers, name)) {
    headers[name] = value;
    return;
  }
  const known = headers[name] ?? [];
  if (typeof known === 'string') headers[name] = [known, value];
  else known.push(value);
}

function asksToClose(connection: string | string[] | undefined): boolean {
  if (connection === undefined || connection === 'keep-alive') return false;
  return /(?:^|[\s,])close(?:$|[\s,])/i.test(String(connection));
}

/** Lengths of up to 15 digits are exact as numbers. */
const lengthPattern = /^[0-9]{1,15}$/;

function chooseFraming(status: number, headers: Readonly<Record<string, string | string[]>>): BodyFraming {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined && length !== undefined) throw new InvalidReplyError('it has both a length and a transfer coding');
  if (length !== undefined && (typeof length !== 'string' || !lengthPattern.test(length))) {
    throw new InvalidReplyError('its length is not a single number');
  }
  if (coding !== undefined && (typeof coding !== 'string' || coding.toLowerCase() !== 'chunked')) {
    throw new InvalidReplyError('its transfer coding is unknown');
  }
  if (status < 200 || status === 204 || status === 304) return { type: 'length', bytes: 0 };
  if (coding !== undefined) return { type: 'chunked' };
  return length === undefined ? { type: 'until-close' } : { type: 'length', bytes: Number(length) };
}
