import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { identifyBody } from './body-identity.ts';

type Identified = { readonly digest: string; readonly passed: string; readonly early: string };

/** Passes a body in pieces that end at these positions. */
function identify(
  body: string,
  contentType: string | undefined,
  cuts: readonly number[] = [],
  head: readonly string[] = ['POST', '/v1/x', ''],
): Identified {
  const bytes = Buffer.from(body, 'latin1');
  const identity = identifyBody(head, contentType);
  const places = [0, ...cuts.filter((cut) => cut > 0 && cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
  const passed: Buffer[] = [];
  for (const [index, place] of places.slice(1).entries()) {
    const piece = identity.piece(bytes.subarray(places[index], place));
    if (piece !== undefined) passed.push(piece);
  }
  const { digest, rest } = identity.finish();
  const early = Buffer.concat(passed).toString('latin1');
  return { digest: digest.toString('hex'), early, passed: early + (rest?.toString('latin1') ?? '') };
}

const formOf = (boundary: string, parts: readonly string[]): string =>
  parts.map((part) => `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\n\r\n${part}\r\n`).join('') + `--${boundary}--\r\n`;
const typeOf = (boundary: string): string => `multipart/form-data; boundary=${boundary}`;

test('another method, path, query or body is another request', () => {
  const whole = identify('{"a":1}', 'application/json');
  assert.equal(whole.digest, identify('{"a":1}', 'application/json', [1, 3]).digest);
  const heads = [
    ['PUT', '/v1/x', ''],
    ['POST', '/v1/y', ''],
    ['POST', '/v1/x', 'alt=sse'],
    ['POST', '/v1/', 'x'],
  ];
  const digests = [whole.digest, identify('{"a":2}', 'application/json').digest, identify('', undefined).digest];
  digests.push(...heads.map((head) => identify('{"a":1}', 'application/json', [], head).digest));
  assert.equal(new Set(digests).size, digests.length);
});

test('a form is the same with any boundary and in any pieces, and passes as it arrived', () => {
  const part = fc.string({ unit: fc.constantFrom('-', 'x', '\r', '\n', 'b'), maxLength: 40 }).filter((text) => !/^--b|\r\n--b/.test(text));
  const cuts = fc.array(fc.nat(400), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), cuts, cuts, (parts, some, others) => {
      const [one, two] = [formOf('b0', parts), formOf('b-and-more', parts)];
      const first = identify(one, typeOf('b0'), some);
      const second = identify(two, typeOf('b-and-more'), others);
      assert.equal(first.digest, second.digest);
      // The line end behind the last boundary belongs to no part.
      assert.equal(first.passed, one.slice(0, -2));
      // A reader of the form does not see its end before the request is identified.
      assert.ok(!first.early.includes('\r\n--b0--'));
    }),
  );
});

test('forms with other parts differ, and so do truncated forms', () => {
  const forms = [['a', 'b'], ['ab'], ['a', 'c'], ['b', 'a'], ['a'], []].map((parts) => formOf('b', parts));
  const digests = forms.map((form) => identify(form, typeOf('b')).digest);
  digests.push(identify((forms[0] ?? '').slice(0, -4), typeOf('b')).digest);
  assert.equal(new Set(digests).size, digests.length);
});

test('a boundary counts only at the beginning of a line', () => {
  const form = formOf('b', ['x--b--', '--', 'y--b']);
  assert.equal(identify(form, typeOf('b')).passed, form.slice(0, -2));
});

test('bytes after the end of a form are ignored, and are not stored', () => {
  const form = formOf('b', ['a']);
  const longer = identify(`${form}${'x'.repeat(100_000)}`, typeOf('b'), [form.length - 2, form.length + 10]);
  assert.equal(longer.digest, identify(form, typeOf('b')).digest);
  assert.equal(longer.passed, form.slice(0, -2));
});

test('a boundary is read as it is written', () => {
  const form = formOf('b', ['a']);
  const plain = identify(form, typeOf('b')).digest;
  for (const type of ['multipart/form-data; charset=x; boundary="b"', 'Multipart/Form-Data;boundary=b', 'multipart/mixed; BOUNDARY=b; x=y'])
    assert.equal(identify(form, type).digest, plain, type);
  for (const type of ['multipart/form-data', 'application/json; boundary=b', undefined])
    assert.notEqual(identify(form, type).digest, plain, String(type));
});
