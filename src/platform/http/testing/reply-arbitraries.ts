import fc from 'fast-check';

/** A reply of a server. `mayBreak` says that a part of it is wrong or unusual on purpose. */
type Reply = { readonly text: string; readonly mayBreak: boolean };

/** Headers of the replies are below this limit, or far beyond it. */
export const headerBytesMax = 8192;

const evil = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil';

/** Mostly a usual value, sometimes an odd one. */
function rarely(usual: readonly string[], odd: readonly string[]): fc.Arbitrary<Reply> {
  return fc.oneof(
    { arbitrary: fc.constantFrom(...usual).map((text) => ({ text, mayBreak: false })), weight: 40 },
    { arbitrary: fc.constantFrom(...odd).map((text) => ({ text, mayBreak: true })), weight: 1 },
  );
}

function join(parts: readonly Reply[]): Reply {
  return { text: parts.map(({ text }) => text).join(''), mayBreak: parts.some(({ mayBreak }) => mayBreak) };
}

const plain = (text: string): Reply => ({ text, mayBreak: false });

const lineEnd = rarely(['\r\n', '\r\n', '\r\n'], ['\n', '\r', '\r\r\n', '\n\r', '\r\n ', ' \r\n', '\0\r\n']);

const statusLine = rarely(
  [
    'HTTP/1.1 200 OK',
    'HTTP/1.1 200 OK',
    'HTTP/1.0 200 OK',
    'HTTP/1.1 404 Not Found',
    'HTTP/1.1 500 ',
    'HTTP/1.1 429 T\xf6\xf6 many',
    'HTTP/1.1 200',
  ],
  [
    'HTTP/1.1 204 No Content',
    'HTTP/1.1 304 Not Modified',
    'HTTP/1.1 205 Reset',
    'HTTP/1.2 200 OK',
    'HTTP/2.0 200 OK',
    'HTTP/0.9 200 OK',
    'http/1.1 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    ' HTTP/1.1 200 OK',
    '\r\nHTTP/1.1 200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 999 OK',
    'HTTP/1.1 200 O\tK',
    'HTTP/1.1 200 O\0K',
    'HTTP/1.1 200\tOK',
    'HTTP/1.1 200OK',
    'HTTP/1.1 101 Switching Protocols',
    'ICY 200 OK',
    'RTSP/1.0 200 OK',
    'HTTP/11 200 OK',
    'HTTP/1.11 200 OK',
  ],
);

const otherHeader = rarely(
  [
    'content-type: application/json',
    'x-a: b',
    'x-a:b',
    'x-l: Gr\xfc\xdfe',
    'x-e:',
    'x-s: \t a b \t',
    'connection: keep-alive',
    'Connection: close',
    'keep-alive: timeout=5',
  ],
  [
    'content-length: 5',
    'content-length: 0',
    'Content-Length: +5',
    'content-length: 5, 5',
    'content-length: 0x5',
    'content-length: 5 5',
    'content-length:',
    'content-length: -0',
    'content-length : 5',
    'content-length\t: 5',
    ' content-length: 5',
    'content-length: 99999999999999999999999',
    'transfer-encoding: chunked',
    'transfer-encoding: identity',
    'transfer-encoding: chunked, identity',
    'transfer-encoding: identity, chunked',
    'transfer-encoding: gzip, chunked',
    'transfer-encoding: xchunked',
    'transfer-encoding: chunked,',
    'transfer-encoding: ,chunked',
    'transfer-encoding: "chunked"',
    'transfer-encoding: chunked;q=1',
    'transfer-encoding:\x0bchunked',
    'transfer-encoding:',
    'transfer-encoding : chunked',
    'transfer_encoding: chunked',
    'upgrade: websocket',
    'connection: upgrade',
    'connection: close, upgrade',
    'x-a',
    ': b',
    'x a: b',
    'x\xe4: b',
    'x-a: b\0c',
    'x-a: b\x01c',
    'x-a: b\x7fc',
    'x-a: b\rc: d',
    'x-a: b\nc: d',
    'x-a: b\r\n folded',
    'x-a: b\r\n\tfolded',
    '__proto__: x',
    'constructor: x',
    `x-long: ${'x'.repeat(headerBytesMax)}`,
  ],
);

const content = fc.oneof(
  fc.constantFrom('', 'a', 'hello', '\r\n', '0\r\n\r\n', evil),
  fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[^\0-\xff]/gu, '?')),
);

/** A head's lines and their ends. */
function headOf(framing: fc.Arbitrary<Reply>): fc.Arbitrary<Reply> {
  return fc
    .tuple(statusLine, lineEnd, fc.array(fc.tuple(otherHeader, lineEnd), { maxLength: 3 }), framing, lineEnd, lineEnd, fc.boolean())
    .map(([status, end, others, frame, frameEnd, blank, isFirst]) => {
      const lines = others.map((line) => join(line));
      const framed = frame.text === '' ? frame : join([frame, frameEnd]);
      return join([status, end, ...(isFirst ? [framed, ...lines] : [...lines, framed]), blank]);
    });
}

const counted = content.chain((body) =>
  fc
    .tuple(
      headOf(
        rarely(
          [`content-length: ${body.length}`, `Content-Length:\t${body.length} `, `content-length: 000${body.length}`],
          [`content-length: ${body.length}\t`, `content-length: ${body.length + 1}`, `content-length: ${Math.max(0, body.length - 1)}`],
        ),
      ),
    )
    .map(([head]) => join([head, plain(body)])),
);

const untilClose = fc.tuple(headOf(fc.constant(plain(''))), content).map(([head, body]) => join([head, plain(body)]));

const extension = rarely(
  ['', '', '', ';a', ';a=b', ';a="b;c"', ';a=b;c=d', ';a="b\\"c"'],
  [
    ';',
    ';;',
    ';a=',
    ';=b',
    ' ',
    '\t',
    ' ;a',
    '; a',
    ';a = b',
    ';a b',
    ';a="b',
    ';a="b"c',
    ';\xe4',
    ';a=\xe4',
    ';a="\xe4"',
    ';a=b\0',
    ';a="b\0"',
    ',a',
    ';a="\\\0"',
    ';a=""',
    `;${'x'.repeat(5000)}`,
  ],
);

const sizeOf = (length: number): fc.Arbitrary<Reply> => {
  const hex = length.toString(16);
  return rarely(
    [hex, hex, hex.toUpperCase(), `00${hex}`],
    [
      `0x${hex}`,
      `+${hex}`,
      `-${hex}`,
      ` ${hex}`,
      (length + 1).toString(16),
      (length + 7).toString(16),
      '',
      'g',
      'ffffffffffffffff',
      `10000000000000000${hex}`,
      `${'0'.repeat(20)}${hex}`,
    ],
  );
};

const chunk = content
  .filter((body) => body !== '')
  .chain((body) =>
    fc.tuple(sizeOf(body.length), extension, lineEnd, lineEnd).map(([size, more, end, last]) => join([size, more, end, plain(body), last])),
  );

const trailer = rarely(
  ['x-t: 1', 'x-t:', 'x-t: a b'],
  [
    'content-length: 5',
    'transfer-encoding: chunked',
    'connection: close',
    'x-t',
    ': a',
    ' x-t: a',
    'x-t : a',
    'x-t: a\0',
    'x-t: a\r\n b',
    'x\xe4: a',
    'upgrade: x',
    '__proto__: y',
  ],
);

const chunked = fc
  .tuple(
    headOf(
      rarely(
        ['transfer-encoding: chunked', 'Transfer-Encoding: Chunked', 'transfer-encoding:chunked  '],
        [
          'transfer-encoding: chunked\t',
          'transfer-encoding: chunked\r\ntransfer-encoding: chunked',
          'transfer-encoding: chunked\r\ncontent-length: 3',
        ],
      ),
    ),
    fc.array(chunk, { maxLength: 4 }),
    rarely(['0', '0', '000'], ['', '00x', '0 ', '-0']),
    extension,
    lineEnd,
    fc.array(fc.tuple(trailer, lineEnd), { maxLength: 2 }),
    lineEnd,
  )
  .map(([head, chunks, last, more, end, trailers, blank]) =>
    join([head, ...chunks, last, more, end, ...trailers.map((line) => join(line)), blank]),
  );

const interim = rarely(
  ['', '', '', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'],
  [
    'HTTP/1.1 100 Continue\r\ncontent-length: 4\r\n\r\n',
    'HTTP/1.1 103 Hints\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.0 100 Continue\r\n\r\n',
    'HTTP/1.1 199 X\r\nconnection: close\r\n\r\n',
    '\r\n',
  ],
);

const surplus = fc.oneof(
  { arbitrary: fc.constant(plain('')), weight: 12 },
  { arbitrary: fc.constantFrom(evil, '\r\n', 'x', '0\r\n\r\n').map((text) => ({ text, mayBreak: true })), weight: 1 },
);

/** One byte inserted, removed or changed. */
const damage = fc.option(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(2),
    insert: fc.constantFrom('', '\r', '\n', '\0', ' ', '\t', ':', ';', ',', '0', '5', 'f', '-', '"', '\xff', '\r\n', '\r\n\r\n'),
  }),
  { freq: 2 },
);

const reply = fc.tuple(interim, fc.oneof(counted, untilClose, chunked), surplus, damage).map(([first, main, last, harm]) => {
  const made = join([first, main, last]);
  if (harm === null) return made;
  const at = Math.floor(harm.at * made.text.length);
  return { text: made.text.slice(0, at) + harm.insert + made.text.slice(at + harm.cut), mayBreak: true };
});

/** A reply, and where it is cut, as fractions of its length. */
export const scenarios = fc.record({ reply, cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }) });
