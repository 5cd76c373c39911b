import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { isBase64 } from './base64-text.ts';

const looksLikeBase64 = (text: string): boolean => !/[^A-Za-z0-9+/=_\s-]/.test(text);

test('a short text passes if it has only characters of base64', () => {
  const unit = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...Array.from('AZaz09+/=_- \n')) },
    fc.constantFrom('é', '漢', '.', ':', '\0', '\u2028', '🌊'),
  );
  fc.assert(fc.property(fc.string({ unit, maxLength: 40 }), (text) => assert.equal(isBase64(text), looksLikeBase64(text))));
});

test('one wrong character is found anywhere in a long text', () => {
  const position = fc.oneof(fc.nat({ max: 200_000 }), fc.constantFrom(0, 65_535, 65_536, 131_071, 131_072));
  fc.assert(
    fc.property(
      fc.integer({ min: 131_073, max: 200_000 }),
      position,
      fc.constantFrom('.', 'é', '漢', '\0', '=', '-', '\n', 'A'),
      (length, at, wrong) => {
        const text = 'Abc+/z09'.repeat(25_000).slice(0, length);
        const changed = text.slice(0, at) + wrong + text.slice(at + 1);
        assert.equal(isBase64(changed), looksLikeBase64(changed));
      },
    ),
    { numRuns: 200 },
  );
});
