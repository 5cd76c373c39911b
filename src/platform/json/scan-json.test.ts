import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { halfSipHash } from './key-table.ts';
import { JsonProblemError, scanJson } from './scan-json.ts';
import type { JsonLimits } from './scan-json.ts';
import { threadMs } from '../thread-ms.ts';

function problemOf(text: string | Buffer, limits?: JsonLimits): JsonProblemError {
  try {
    scanJson(Buffer.from(text), limits);
  } catch (error) {
    assert.ok(error instanceof JsonProblemError, String(error));
    return error;
  }
  assert.fail(`accepted: ${text.slice(0, 100).toString()}`);
}

function isAccepted(bytes: Buffer): boolean {
  try {
    scanJson(bytes);
    return true;
  } catch (error) {
    assert.ok(error instanceof JsonProblemError, String(error));
    return false;
  }
}

function isParsed(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    // Not JSON: the scan must refuse it too.
    return false;
  }
}

test('members of the root object are found with their spans', () => {
  const bytes = Buffer.from(' {"model" : "m", "n":{"model":[1]} ,"\\u0061":-1.5e3,"é":true}\n');
  const scan = scanJson(bytes);
  assert.equal(scan.rootType, 'object');
  const texts = [...scan.members].map(([key, { start, end }]) => [key, bytes.toString('utf8', start, end)]);
  assert.deepEqual(texts, [
    ['model', '"m"'],
    ['n', '{"model":[1]}'],
    ['a', '-1.5e3'],
    ['é', 'true'],
  ]);
  assert.deepEqual(scanJson(Buffer.from('{}')).members, new Map());
});

test('a root that is not an object is reported with its type', () => {
  const types = ['[1]', '"x"', '-1', 'true', 'false', 'null', ' {} '].map((text) => scanJson(Buffer.from(text)).rootType);
  assert.deepEqual(types, ['array', 'string', 'number', 'boolean', 'boolean', 'null', 'object']);
  assert.equal(scanJson(Buffer.from('[{"a":1}]')).members.size, 0);
});

test('a text that is not JSON is refused with the position', () => {
  const cases: [text: string, kind: string, offset: number, message: RegExp][] = [
    ['{"a":1,}', 'syntax', 7, /expected a key in double quotes, but found "}" at line 1, column 8$/],
    ["{'a':1}", 'syntax', 1, /expected a key in double quotes, but found "'"/],
    ['[1,]', 'syntax', 3, /expected a value, but found "]"/],
    ['[1 2]', 'syntax', 3, /expected a comma or "]", but found "2"/],
    ['{"a" 1}', 'syntax', 5, /expected a colon after the key, but found "1"/],
    ['{"a":1 "b":2}', 'syntax', 7, /expected a comma or "}"/],
    ['[1}', 'syntax', 2, /expected a comma or "]"/],
    ['{"a":01}', 'syntax', 6, /expected a comma or "}"/],
    ['[1.]', 'syntax', 3, /expected a digit/],
    ['[-]', 'syntax', 2, /expected a digit/],
    ['[+1]', 'syntax', 1, /expected a value/],
    ['[.5]', 'syntax', 1, /expected a value/],
    ['[1e+]', 'syntax', 4, /expected a digit/],
    ['[NaN]', 'syntax', 1, /expected a value/],
    ['[tru]', 'syntax', 4, /expected the word true/],
    ['{} x', 'syntax', 3, /expected the end of the body/],
    ['[1]]', 'syntax', 3, /expected the end of the body/],
    ['\u00a0[]', 'syntax', 0, /but found the byte 0xc2/],
    ['["\\x"]', 'syntax', 2, /escape that JSON does not know/],
    ['["\\u12g4"]', 'syntax', 2, /escape that JSON does not know/],
    ['["é\n"]', 'syntax', 4, /control character that must be escaped at line 1, column 4/],
    ['{\n "a": é}', 'syntax', 8, /at line 2, column 7/],
  ];
  for (const [text, kind, offset, message] of cases) {
    const problem = problemOf(text);
    assert.deepEqual([problem.kind, problem.offset], [kind, offset], text);
    assert.match(problem.message, message);
  }
});

test('a truncated body is distinguished from an invalid one, at any length', () => {
  const text = '{"a":[1.5e+3,-0,true,{"b":null}],"c\\u0041\\n":"xé"}';
  const whole = Buffer.from(text);
  for (let end = 0; end < whole.length; end++) {
    const cut = whole.subarray(0, end);
    const { kind } = problemOf(cut);
    assert.equal(kind, cut.at(-1) === 0xc3 ? 'encoding' : 'incomplete', cut.toString());
  }
  assert.match(problemOf('').message, /ends too early: expected a value at line 1, column 1/);
  assert.match(problemOf('{"a": "b').message, /ends inside a string/);
});

test('invalid UTF-8 is refused with its position', () => {
  for (const bad of [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0x80, 0x80, 0x80, 0x80, 0x80]]) {
    for (const before of [0, 1, 7, 100, 1001]) {
      const head = Buffer.from(`["${'é😀a'.repeat(before)}`);
      const problem = problemOf(Buffer.concat([head, Buffer.from(bad), Buffer.from('aé"]')]));
      assert.deepEqual([problem.kind, problem.offset], ['encoding', head.length]);
    }
  }
});

test('a byte order mark is refused by name', () => {
  const problem = problemOf('\ufeff{}');
  assert.equal(problem.kind, 'encoding');
  assert.match(problem.message, /byte order mark/);
});

test('depth is bounded, and exactly the limit passes', () => {
  const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  scanJson(Buffer.from(nest(64)));
  assert.deepEqual([problemOf(nest(65)).kind, problemOf(nest(65)).offset], ['depth', 64]);
  assert.equal(problemOf('{"a":{"b":[]}}', { depthMax: 2 }).kind, 'depth');
  assert.match(problemOf('[[]]', { depthMax: 1 }).message, /at most 1 arrays and objects/);
});

test('values and keys are counted together, and exactly the limit passes', () => {
  const bytes = '{"a":[1,2],"b":{}}';
  scanJson(Buffer.from(bytes), { tokensMax: 7 });
  assert.equal(problemOf(bytes, { tokensMax: 6 }).kind, 'tokens');
});

test('duplicate keys are found at any depth and in any spelling', () => {
  const problem = problemOf('[{"a":1,"b":{"x":1,"\\u0078":2}}]');
  assert.deepEqual([problem.kind, problem.key, problem.offset], ['duplicate-key', 'x', 19]);
  assert.match(problem.message, /the key "x" appears twice in the same object, again at line 1, column 20/);
  assert.equal(problemOf('{"\\u0061":1,"b":2,"a":3}').key, 'a');
  assert.equal(problemOf('{"é":1,"\\u00e9":3}').key, 'é');
  assert.equal(problemOf('{"":1,"":3}').key, '');
  assert.equal(problemOf('{"\\ud83d\\ude00":1,"😀":3}').key, '😀');
  assert.equal(problemOf('{"\\ud800":1,"\\uD800":3}').key, '\ud800');
  assert.equal(problemOf('{"__proto__":1,"__proto__":3}').key, '__proto__');
  assert.equal(problemOf(`{"${'k'.repeat(9000)}":1,"${'k'.repeat(9000)}":2}`).key?.length, 64);
});

test('keys that only look alike are different', () => {
  const texts = [
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '{"\\ud800":1,"\\ud801":2,"\ufffd":3}',
    '{"aXb":1,"aYb":2,"a":3,"A":4}',
    '{"axyb":1,"aybb":2,"azbb":3}',
  ];
  for (const text of texts) scanJson(Buffer.from(text));
  // An inner object must not change the keys of the object around it, listed or in the table.
  const many = Array.from({ length: 40 }, (_, index) => `"k${index}":{"k0":1,"\\u006b1":2}`);
  scanJson(Buffer.from(`{${many.join(',')}}`));
  assert.equal(problemOf(`{${many.join(',')},"k39":1}`).key, 'k39');
  assert.equal(problemOf(`{${many.join(',')},"\\u006b7":1}`).key, 'k7');
});

test('duplicates are found among any number of keys', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ maxLength: 6 }), { minLength: 1, maxLength: 90 }),
      fc.nat(),
      fc.boolean(),
      (keys, pick, isEscaped) => {
        const text = keys.map((key) => `${JSON.stringify(key)}:0`);
        scanJson(Buffer.from(`{${text.join(',')}}`));
        const again = keys[pick % keys.length] ?? '';
        const escaped = Array.from(again, (character) => (isEscaped ? escape16(character) : JSON.stringify(character).slice(1, -1))).join(
          '',
        );
        assert.equal(problemOf(`{${text.join(',')},"${escaped}":0}`).key, again);
      },
    ),
  );
});

function escape16(character: string): string {
  return [...Array(character.length).keys()].map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}

test('damaged JSON is accepted exactly when JSON.parse accepts it', () => {
  const damages = ['"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', 't', ' ', '\n', '\u0001', 'é', '\\u00', 'true', '\ud800'];
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 4 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...damages, '')), { maxLength: 2 }),
      (json, edits) => {
        let text = json;
        for (const [at, removed, added] of edits) {
          const start = at % (text.length + 1);
          text = text.slice(0, start) + added + text.slice(start + removed);
        }
        const bytes = Buffer.from(text);
        if (isAccepted(bytes)) assert.ok(isParsed(bytes), text);
        else assert.ok(!isParsed(bytes) || problemOf(bytes).kind === 'duplicate-key', `${text}: ${problemOf(bytes).message}`);
      },
    ),
    { numRuns: 2000 },
  );
});

test('invalid bytes in long strings are found at any position and alignment', () => {
  const filler = fc.constantFrom('a', 'é', '😀', '\u007f', '\u0080', ' ');
  const size = fc.oneof(fc.nat(80), fc.integer({ min: 500, max: 640 }));
  const special = fc.constantFrom('', '\u001f', '\u0000', '\n', '\\', '\\n', '\\"', '"', '\\u00e9', '\\\\', '\u0020', '\u00a0');
  fc.assert(
    fc.property(filler, size, special, size, fc.nat(3), (character, before, inserted, after, shift) => {
      const text = `["${character.repeat(before)}${inserted}${'b'.repeat(after)}","x"]`;
      const bytes = Buffer.alloc(shift + Buffer.byteLength(text)).subarray(shift);
      bytes.write(text);
      assert.equal(isAccepted(bytes), isParsed(bytes), text);
    }),
    { numRuns: 1500 },
  );
});

test('many quotes and escapes far apart cost linear time', () => {
  const stretch = 'x'.repeat(900);
  const body = Buffer.from(`["${`${stretch}\\n`.repeat(8000)}"${`,"${stretch}"`.repeat(4000)}]`);
  const startedAt = threadMs();
  scanJson(body);
  assert.ok(threadMs() - startedAt < 2000);
});

test('hostile bodies are refused or accepted quickly', () => {
  const keys = (count: number, key: (index: number) => string) =>
    `{${Array.from({ length: count }, (_, index) => `"${key(index)}":0`).join(',')}}`;
  const bodies = [
    Buffer.alloc(4_000_000, '['),
    Buffer.from(`[${'1,'.repeat(2_000_000)}1]`),
    Buffer.from(keys(120_000, String)),
    // These keys have the same hash in V8, which uses only the length of strings of this size.
    Buffer.from(keys(200, (index) => 'k'.repeat(17_000) + String(index + 1000))),
    Buffer.from(keys(20_000, (index) => `\\u006b${index}`)),
  ];
  for (const body of bodies) {
    const startedAt = threadMs();
    isAccepted(body);
    assert.ok(threadMs() - startedAt < 2000, body.toString('utf8', 0, 20));
  }
});

test('the keyed hash depends on every byte, the length and the key, and not on the position of the bytes', () => {
  const message = Buffer.from(Array.from({ length: 16 }, (_, index) => index));
  const hashes = new Set(Array.from({ length: 17 }, (_, length) => halfSipHash(message, 0, length, 1, 2)));
  for (let index = 0; index < message.length; index++) {
    const changed = Buffer.from(message);
    changed[index] = 0xff;
    hashes.add(halfSipHash(changed, 0, 16, 1, 2));
  }
  hashes.add(halfSipHash(message, 0, 16, 2, 1));
  assert.equal(hashes.size, 17 + 16 + 1);
  assert.equal(halfSipHash(message, 4, 8, 1, 2), halfSipHash(Buffer.from([4, 5, 6, 7]), 0, 4, 1, 2));
});
