import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countTokens, cutToTokens, splitText } from './count-tokens.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 200 });

test('pieces of a text lose nothing, split no character and count the same tokens as the whole', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 }), (whole, tokensPerPiece, charactersBefore) => {
      const pieces = splitText(whole, tokensPerPiece, charactersBefore);
      assert.equal(pieces.map((piece) => piece.text).join(''), whole);
      for (const piece of pieces) assert.ok(piece.text !== '' && piece.text.isWellFormed());
      const total = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
      assert.equal(total, countTokens('x'.repeat(charactersBefore) + whole) - countTokens('x'.repeat(charactersBefore)));
    }),
  );
});

test('a cut text stays within its tokens and does not end inside a character', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 40 }), (whole, tokensMax) => {
      const cut = cutToTokens(whole, tokensMax);
      assert.ok(whole.startsWith(cut) && cut.isWellFormed());
      assert.ok(countTokens(cut) <= tokensMax);
    }),
  );
});
