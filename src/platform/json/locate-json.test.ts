import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyJsonEdits } from './json-edits.ts';
import { listElements, listMembers, locateJson } from './locate-json.ts';
import { parseJson } from './parse-json.ts';
import { scanJson } from './scan-json.ts';

const body = Buffer.from(
  '\n{ "model" :"m\\"}", "messages":[ {"role":"user","content":[]} , {"content":"é]","ro\\u006ce":-1.5e3}],"a":{"a":{"a":null}},"s":true }',
);

function textAt(path: readonly (string | number)[]): string | undefined {
  const span = locateJson(body, path);
  return span && body.toString('utf8', span.start, span.end);
}

test('a value is found by its path, without the white space around it', () => {
  assert.equal(textAt(['model']), '"m\\"}"');
  assert.equal(textAt(['messages', 1, 'content']), '"é]"');
  assert.equal(textAt(['messages', 1, 'role']), '-1.5e3');
  assert.equal(textAt(['messages', 0]), '{"role":"user","content":[]}');
  assert.equal(textAt(['a', 'a', 'a']), 'null');
  assert.equal(textAt(['s']), 'true');
  assert.equal(textAt([]), body.toString().trim());
});

test('a path without a value finds nothing', () => {
  const paths = [
    ['x'],
    ['messages', 2],
    ['messages', 'role'],
    [0],
    ['model', 0],
    ['a', 'a', 'a', 'a'],
    ['messages', 0, 'content', 0],
    ['messages', -1],
    ['messages', 0.5],
  ];
  for (const path of paths) assert.equal(locateJson(body, path), undefined);
});

test('members and elements are listed in order with unescaped keys', () => {
  const second = locateJson(body, ['messages', 1]);
  assert.ok(second);
  const members = listMembers(body, second).map(({ key, keySpan, valueSpan }) => [
    key,
    body.toString('utf8', keySpan.start, keySpan.end),
    body.toString('utf8', valueSpan.start, valueSpan.end),
  ]);
  assert.deepEqual(members, [
    ['content', '"content"', '"é]"'],
    ['role', '"ro\\u006ce"', '-1.5e3'],
  ]);
  const messages = locateJson(body, ['messages']);
  assert.ok(messages);
  assert.equal(listElements(body, messages).length, 2);
  assert.deepEqual(listMembers(body, messages), []);
  assert.deepEqual(listElements(body, second), []);
});

test('reading broken JSON always ends', () => {
  for (let end = 0; end < body.length; end++) {
    const cut = body.subarray(0, end);
    locateJson(cut, ['messages', 1, 'role']);
    locateJson(cut, ['a', 'a', 'a', 'a']);
  }
  for (const text of ['', ':', '{:', '{"a"', '{"a":', '[,', '[,,', '{"a":,"b":1}', '[}']) locateJson(Buffer.from(text), ['b', 1]);
});

type AnyJson = string | number | boolean | null | AnyJson[] | { [member: string]: AnyJson };

/** Paths to all values inside a value. */
function pathsOf(value: AnyJson): (string | number)[][] {
  if (value === null || typeof value !== 'object') return [[]];
  const members: [string | number, AnyJson][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [[], ...members.flatMap(([key, inner]) => pathsOf(inner).map((path) => [key, ...path]))];
}

function replaceAt(value: AnyJson, path: readonly (string | number)[], replacement: AnyJson): AnyJson {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? replaceAt(item, rest, replacement) : item));
  assert.ok(typeof value === 'object' && value !== null);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, key === step ? replaceAt(inner, rest, replacement) : inner]));
}

function anyJson(maxDepth: number): fc.Arbitrary<AnyJson> {
  return fc.jsonValue({ maxDepth }).map((value) => value as AnyJson);
}

test('replacing the bytes of a value equals replacing it in the tree, and changes nothing else', () => {
  fc.assert(
    fc.property(anyJson(3), fc.nat(), anyJson(1), fc.constantFrom(0, 1, '\r\n\t'), (value, pick, replacement, space) => {
      const bytes = Buffer.from(JSON.stringify(value, undefined, space));
      scanJson(bytes);
      const paths = pathsOf(value);
      const path = paths[pick % paths.length] ?? [];
      const span = locateJson(bytes, path);
      assert.ok(span);
      const spliced = applyJsonEdits(bytes, [{ ...span, replacement: JSON.stringify(replacement) }]);
      // Compared as text, because JSON.stringify writes negative zero as zero.
      const wanted: unknown = JSON.parse(JSON.stringify(replaceAt(value, path, replacement)));
      assert.deepEqual(parseJson(spliced), wanted);
      assert.ok(spliced.subarray(0, span.start).equals(bytes.subarray(0, span.start)));
      assert.ok(spliced.toString().endsWith(bytes.toString('utf8', span.end)));
    }),
    { numRuns: 500 },
  );
});

test('a key with an escape that JSON does not know is none that is looked for, and those after it are found', () => {
  const bytes = Buffer.from(String.raw`{"\x61":1,"\u12":2,"a":3}`);
  assert.deepEqual(locateJson(bytes, ['a']), { start: 23, end: 24 });
  assert.equal(locateJson(bytes, ['x61']), undefined);
});
