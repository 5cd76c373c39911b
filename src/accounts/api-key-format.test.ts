import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { generateId, generateSecret, parseSecret } from './api-key-format.ts';

test('a generated secret has the documented form and names its id', () => {
  const { id, secret } = generateSecret('sk-weir', randomBytes);
  assert.match(secret, /^sk-weir-[0-9A-Za-z]{10}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  assert.equal(parseSecret('sk-weir', secret), id);
  assert.ok(secret.startsWith(`sk-weir-${id}_`));
});

test('the checksum detects a secret that has a changed character, is cut or is lengthened', () => {
  const { secret } = generateSecret('sk-weir', randomBytes);
  for (let position = 0; position < secret.length; position += 1) {
    const other = secret[position] === 'a' ? 'b' : 'a';
    assert.equal(parseSecret('sk-weir', secret.slice(0, position) + other + secret.slice(position + 1)), undefined, `position ${position}`);
  }
  for (const wrong of ['', secret.slice(1), secret.slice(0, -1), `${secret}a`, ` ${secret}`, `${secret}\n`, secret.toLowerCase()]) {
    assert.equal(parseSecret('sk-weir', wrong), undefined);
  }
});

test('a secret of one kind is not valid as the other kind, even with the prefix of that kind', () => {
  const { secret } = generateSecret('sk-weir', randomBytes);
  assert.equal(parseSecret('bt-weir', secret), undefined);
  assert.equal(parseSecret('bt-weir', secret.replace('sk-', 'bt-')), undefined);
});

/**
 * Any UTF-16 code unit, lone surrogates included, or a character above them. The "binary" unit of the library takes a
 * second to set up.
 */
const anyUnit = fc.oneof(
  fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
  fc.integer({ min: 0x10000, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
);

test('any text is parsed without an error, and random text is never a key', () => {
  fc.assert(fc.property(fc.string({ unit: anyUnit, maxLength: 100 }), (text) => parseSecret('sk-weir', text) === undefined));
});

test('bytes that would favour the first letters are discarded', () => {
  // Bytes of 248 and above would begin a fifth, incomplete run of the 62 characters.
  const bytes = [255, 248, 0, 250, 61, 62, 247];
  let at = 0;
  const random = (size: number): Uint8Array => Uint8Array.from({ length: size }, () => bytes[at++ % bytes.length] ?? 0);
  assert.equal(generateId(4, random), '0z0z');
});

test('two generated secrets are never the same', () => {
  const secrets = new Set(Array.from({ length: 1000 }, () => generateSecret('bt-weir', randomBytes).secret));
  assert.equal(secrets.size, 1000);
});
