import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { ReplyParser } from './reply-parser.ts';

const headerBytesMax = 1024;

type Heard = { readonly heads: (readonly [status: number, headers: object])[]; body: string; ended: boolean };

/** Reads bytes in pieces. The memory of each piece is overwritten afterwards, as for a connection. */
function read(pieces: readonly Buffer[], closes = false) {
  const heard: Heard = { heads: [], body: '', ended: false };
  const parser = new ReplyParser(
    {
      onHead: ({ status, headers }) => void heard.heads.push([status, { ...headers }]),
      onBody: (piece) => void (heard.body += piece.toString('latin1')),
      onEnd: () => void (heard.ended = true),
    },
    headerBytesMax,
  );
  let used = 0;
  for (const piece of pieces) {
    const shared = Buffer.from(piece);
    used += parser.push(shared);
    shared.fill(0x78);
  }
  const closed = closes && parser.finish();
  return { ...heard, used, closed };
}

const whole = (text: string, closes = false) => read([Buffer.from(text, 'latin1')], closes);
const ok = 'HTTP/1.1 200 OK\r\n';

describe('a reply that is well formed', () => {
  const cases: readonly (readonly [name: string, text: string, body: string])[] = [
    ['a length', `${ok}content-length: 5\r\n\r\nhello`, 'hello'],
    ['a length of zero', `${ok}content-length: 0\r\n\r\n`, ''],
    ['chunks', `${ok}transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`, 'hello'],
    [
      'chunks with extensions, large digits and trailers',
      `${ok}Transfer-Encoding: Chunked\r\n\r\n00A;a=b;c="d;\\"e";f\r\n0123456789\r\n0;x\r\nx-t: 1\r\n\r\n`,
      '0123456789',
    ],
    ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
    ['not modified, which may name the length of what it does not send', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n', ''],
    [
      'announcements first',
      `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${ok}content-length: 2\r\n\r\nhi`,
      'hi',
    ],
    ['no reason', 'HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx', 'x'],
    ['white space around values', `${ok}content-length: \t 1  \r\n\r\nx`, 'x'],
  ];
  for (const [name, text, body] of cases) {
    test(name, () => {
      const heard = whole(text);
      assert.deepEqual([heard.body, heard.ended, heard.used], [body, true, text.length]);
    });

    test(`${name}is read the same in any pieces`, () => {
      const expected = whole(text);
      const bytes = Buffer.from(text, 'latin1');
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (cuts) => {
          const places = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
          const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
          assert.deepEqual(read(pieces), expected);
        }),
        { numRuns: 60 },
      );
    });
  }

  test('only a body without a length ends with the connection', () => {
    const open = whole('HTTP/1.0 200 OK\r\n\r\nhello', true);
    assert.deepEqual([open.body, open.ended, open.closed], ['hello', true, true]);
    const cut = whole(`${ok}content-length: 9\r\n\r\nhello`, true);
    assert.deepEqual([cut.ended, cut.closed], [false, false]);
    const cutInChunk = whole(`${ok}transfer-encoding: chunked\r\n\r\n9\r\nhello`, true);
    assert.deepEqual([cutInChunk.ended, cutInChunk.closed], [false, false]);
    assert.equal(whole(ok, true).closed, false);
  });

  test('bytes after the end are not consumed', () => {
    const text = `${ok}content-length: 2\r\n\r\nhi`;
    const heard = whole(`${text}HTTP/1.1 200 OK\r\n`);
    assert.deepEqual([heard.body, heard.used], ['hi', text.length]);
  });

  test('names are in lower case, a repeated header is a list, and bytes are characters', () => {
    const [head] = whole(
      `${ok}Content-Type: a\r\ncontent-type: b\r\nX-Name: Gr\u00fc\u00dfe\r\n__proto__: evil\r\ncontent-length: 0\r\n\r\n`,
    ).heads;
    assert.deepEqual(head?.[1], { 'content-type': ['a', 'b'], 'x-name': 'Grüße', 'content-length': '0' });
  });
});

describe('a reply that could be read in two ways, or is none, is refused', () => {
  const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
  for (const [name, text] of [
    ['both a length and chunks', `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['two lengths', `${ok}content-length: 5\r\ncontent-length: 6\r\n\r\n`],
    ['the same length twice', `${ok}content-length: 5\r\ncontent-length: 5\r\n\r\n`],
    ['a list of lengths', `${ok}content-length: 5, 5\r\n\r\n`],
    ['a signed length', `${ok}content-length: +5\r\n\r\n`],
    ['a negative length', `${ok}content-length: -5\r\n\r\n`],
    ['a length in hexadecimal', `${ok}content-length: 0x5\r\n\r\n`],
    ['an empty length', `${ok}content-length:\r\n\r\n`],
    ['a length beyond what numbers hold', `${ok}content-length: 99999999999999999999\r\n\r\n`],
    ['another coding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['a coding that only looks like chunks', `${ok}transfer-encoding: xchunked\r\n\r\n`],
    ['two codings', `${ok}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n`],
    ['a length with a tab after it', `${ok}content-length: 5\t\r\n\r\n`],
    ['a length and then chunks', `${ok}transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n`],
    ['a coding after chunks', `${ok}transfer-encoding: chunked, identity\r\n\r\n`],
    ['chunks twice', `${ok}transfer-encoding: chunked, chunked\r\n\r\n`],
    ['chunks with a parameter', `${ok}transfer-encoding: chunked;q=1\r\n\r\n`],
    ['chunks with a tab after them', `${ok}transfer-encoding: chunked\t\r\n\r\n`],
    ['no coding at all', `${ok}transfer-encoding:\r\n\r\n`],
    ['a space before the colon', `${ok}content-length : 5\r\n\r\n`],
    ['a header without a colon', `${ok}content-length\r\n\r\n`],
    ['a header without a name', `${ok}: 5\r\n\r\n`],
    ['a folded header', `${ok}x-a: 1\r\n 2\r\n\r\n`],
    ['a header folded with a tab', `${ok}x-a: 1\r\n\t2\r\n\r\n`],
    ['a head that ends its lines with line feeds alone', 'HTTP/1.1 200 OK\ncontent-length: 5\n\n'],
    ['another protocol, before its line has ended', 'SSH-2.0-x'],
    ['an alert of TLS', '\x15\x03\x01\x00\x02\x02\x46'],
    ['announcements without an end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(300)],
    ['an announcement that ends the connection', `HTTP/1.1 103 Early Hints\r\nconnection: close\r\n\r\n${ok}content-length: 0\r\n\r\n`],
    ['an announcement of HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\n${ok}content-length: 0\r\n\r\n`],
    ['a bare line feed', `${ok}x-a: 1\ncontent-length: 5\r\n\r\n`],
    ['a bare carriage return', `${ok}x-a: 1\rcontent-length: 5\r\n\r\n`],
    ['a NUL in a value', `${ok}x-a: 1\0\r\n\r\n`],
    ['a blank line before the status line', `\r\n${ok}content-length: 0\r\n\r\n`],
    ['another protocol', 'HTTP/2 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a change of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['headers beyond the limit', `${ok}x-a: ${'x'.repeat(headerBytesMax)}\r\n\r\n`],
    ['headers that never end', `${ok}x-a: ${'x'.repeat(headerBytesMax)}`],
    ['a chunk size that is no number', `${chunked}zz\r\n`],
    ['a chunk size in front of white space', `${chunked} 5\r\nhello\r\n`],
    ['a chunk size with white space after it', `${chunked}5 \r\nhello\r\n`],
    ['a chunk size in another notation', `${chunked}0x5\r\nhello\r\n`],
    ['a chunk with an extension that has no name', `${chunked}5;\r\nhello\r\n`],
    ['a chunk with an extension whose quotes do not end', `${chunked}5;a="b\r\nhello\r\n`],
    ['a chunk with a carriage return in an extension', `${chunked}5;a\r;b\r\nhello\r\n`],
    ['an empty chunk size', `${chunked}\r\n`],
    ['a signed chunk size', `${chunked}-5\r\n`],
    ['a chunk size beyond what numbers hold', `${chunked}fffffffffffff\r\n`],
    ['a chunk longer than its size', `${chunked}3\r\nhello\r\n`],
    ['a chunk line ended by a line feed alone', `${chunked}3\nhel\r\n`],
    ['a chunk line without an end', `${chunked}3;${'x'.repeat(5000)}`],
    ['a trailer without a colon', `${chunked}0\r\nnothing\r\n\r\n`],
    ['a trailer that is a length', `${chunked}0\r\nContent-Length: 5\r\n\r\n`],
    ['a trailer that is a coding', `${chunked}0\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['a folded trailer', `${chunked}0\r\nx: y\r\n z\r\n\r\n`],
    ['trailers without an end', `${chunked}0\r\n${'x: y\r\n'.repeat(100)}`],
  ] as const) {
    test(name, () => {
      assert.throws(() => whole(text), { name: 'InvalidReplyError', code: 'INVALID_HTTP_REPLY' });
      assert.throws(
        () => read([...Buffer.from(text, 'latin1')].map((byte) => Buffer.from([byte]))),
        { name: 'InvalidReplyError' },
        'byte by byte',
      );
    });
  }
});

describe('the line of a chunk is judged the same in one piece as byte by byte', () => {
  const outcome = (pieces: readonly Buffer[]): unknown => {
    try {
      return read(pieces);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const check = (lines: readonly string[]): void => {
    for (const line of lines) {
      const bytes = Buffer.from(`${ok}transfer-encoding: chunked\r\n\r\n${line}`, 'latin1');
      assert.deepEqual(outcome([bytes]), outcome([...bytes].map((byte) => Buffer.from([byte]))), JSON.stringify(line));
    }
  };
  const everyByte = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));

  test('any byte in the place of its digits, and only digits are a size', () => {
    check(everyByte.flatMap((byte) => [`${byte}\r\na\r\n0\r\n\r\n`, `0${byte}\r\na\r\n0\r\n\r\n`]));
    const accepted = everyByte.filter((byte) => {
      const text = `${ok}transfer-encoding: chunked\r\n\r\n0${byte}\r\n${'x'.repeat(15)}`;
      return typeof outcome([Buffer.from(text, 'latin1')]) !== 'string';
    });
    assert.deepEqual(accepted.join(''), '0123456789ABCDEFabcdef');
  });

  test('any byte in the place of its end', () => {
    check(everyByte.flatMap((byte) => [`1${byte}\na\r\n0\r\n\r\n`, `1\r${byte}a\r\n0\r\n\r\n`]));
  });

  test('any byte in the place of the end of its data', () => {
    check(everyByte.flatMap((byte) => [`1\r\na${byte}\n0\r\n\r\n`, `1\r\na\r${byte}0\r\n\r\n`]));
  });

  test('any number of digits', () => {
    const counts = Array.from({ length: 16 }, (_, digits) => digits);
    check(counts.flatMap((digits) => [`${'0'.repeat(digits)}1\r\na\r\n0\r\n\r\n`, `1${'0'.repeat(digits)}\r\na\r\n0\r\n\r\n`]));
  });
});

test('after a reset the next reply is read from the start', () => {
  const heard: string[] = [];
  const parser = new ReplyParser(
    {
      onHead: ({ status }) => void heard.push(String(status)),
      onBody: (piece) => void heard.push(piece.toString()),
      onEnd: () => void heard.push('end'),
    },
    headerBytesMax,
  );
  for (const text of [
    `${ok}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx: y\r\n\r\n`,
    `HTTP/1.1 404 No\r\ncontent-length: 1\r\n\r\nb`,
  ]) {
    parser.push(Buffer.from(text));
    parser.reset();
  }
  assert.deepEqual(heard, ['200', 'a', 'end', '404', 'b', 'end']);
});
