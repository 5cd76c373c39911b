import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import type { Usage } from '../../../inference/usage.ts';
import { systemClock } from '../../../platform/clock.ts';
import { fakeTarget } from '../routing/testing/fake-routing.ts';
import { CallCredit } from '../../admission/credits/call-credit.ts';
import { defaultCredits } from '../../settings/call-settings.ts';
import { FakeDesk } from '../../admission/credits/testing/fake-desk.ts';
import { StreamBudget } from './stream-budget.ts';

/** One nano-USD for each token. */
const priceBook = createPriceBook({ book: loadShippedPriceBook(), overrides: [{ model: 'm', input: '0.001', output: '0.001' }] });
const coveredTokens = 100;

/** A stream with 100 covered tokens, and this many available in total. */
function watch(moneyTokens: number, most: Usage = { inputTokens: 0 }) {
  const desk = new FakeDesk(BigInt(moneyTokens));
  const held = desk.hold(undefined, BigInt(coveredTokens));
  assert.ok(!(held instanceof Promise) && held.admitted);
  const budget = new StreamBudget({
    credit: new CallCredit(held, systemClock),
    settings: { ...defaultCredits, outputTokensDefault: coveredTokens },
    purchase: { priceBook, requestedModel: 'm', acceptedAtMs: 0, userName: 'ann', keyId: 'k' },
    target: fakeTarget('a'),
    bounds: { expected: {}, most: { ...most, outputTokens: coveredTokens } },
    isBounded: false,
  });
  return { desk, budget };
}

type Piece = { readonly text: string; readonly escaped?: true; readonly counts?: number };

/**
 * Passes a piece of text on.
 * @returns the number of pieces until the stream was cut
 */
async function passUntilCut({ budget }: ReturnType<typeof watch>, pieces: Iterable<Piece>): Promise<number | undefined> {
  let characters = 0;
  let passed = 0;
  let counted: { readonly tokens: number; readonly characters: number } | undefined;
  for (const { text, escaped, counts } of pieces) {
    characters += text.length;
    passed += 1;
    if (counts !== undefined) counted = { tokens: counts, characters };
    const written = JSON.stringify({ text });
    const data =
      escaped === true ? written.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`) : written;
    if (!budget.isDue({ data, bytes: Buffer.from(`data: ${data}\n\n`) })) continue;
    const report: ReplyReport = {
      outputCharacters: characters,
      ...(counted === undefined
        ? {}
        : {
            usageReport: {
              usage: { outputTokens: counted.tokens },
              raw: {},
              trustworthy: true,
              ...(characters > counted.characters ? { outputGoesOn: true as const } : {}),
            },
          }),
    };
    if ((await budget.review(report)) === 'cut') return passed;
  }
  return undefined;
}

const repeat = (piece: Piece, times: number): readonly Piece[] => Array.from({ length: times }, () => piece);

describe('M6: a stream without a bound is cut before its tokens can exceed the hold', () => {
  // A vocabulary may have a token for each byte of unknown text.
  for (const [name, text, escaped] of [
    ['Latin text', 'abcdefghij', undefined],
    ['digits with spaces', '1 2 3 4 5 ', undefined],
    ['accents', 'éüñßçøæœþð', undefined],
    ['rare ideographs', '㐀㐁㐂㐃㐄㐅㐆㐇㐈㐉', undefined],
    ['rare ideographs as escapes', '㐀㐁㐂㐃㐄㐅㐆㐇㐈㐉', true],
    ['emoji', '😀🎉🦄🧿🏳', undefined],
    ['emoji as escapes', '😀🎉🦄🧿🏳', true],
  ] as const)
    test(name, async () => {
      const bytes = Buffer.byteLength(text);
      const pieces = repeat({ text, ...(escaped === undefined ? {} : { escaped }) }, 1000);
      const passed = await passUntilCut(watch(coveredTokens), pieces);
      assert.ok(passed !== undefined && (passed - 1) * bytes < coveredTokens, `${passed} pieces of ${bytes} bytes passed`);
      assert.ok(passed * bytes >= coveredTokens, 'and not before it could be');
    });
});

describe('the hold grows in time', () => {
  test('a caller with enough credit is never cut, and its hold covers the text', async () => {
    const { desk, budget } = watch(1_000_000);
    assert.equal(await passUntilCut({ desk, budget }, repeat({ text: 'word ' }, 10_000)), undefined);
    assert.ok(desk.heldNanoUsd >= 50_000n && desk.heldNanoUsd <= 50_000n + 2n * BigInt(coveredTokens), String(desk.heldNanoUsd));
  });

  test('a caller near its limit gets the rest in small parts', async () => {
    const passed = await passUntilCut(watch(250), repeat({ text: 'word ' }, 1000));
    assert.ok(passed !== undefined && passed * 5 > 200 && passed * 5 <= 255, `${passed} words passed`);
  });

  test('an upstream that counts while it writes is trusted: the hold is the cost', async () => {
    // One token for each word: a fifth of the estimate by characters.
    const pieces = Array.from({ length: 5000 }, (_, index) => ({ text: 'word ', counts: index + 1 }));
    const watched = watch(1000);
    const passed = await passUntilCut(watched, pieces);
    assert.ok(passed !== undefined && passed > 900 && passed <= 1001, `${passed} tokens passed`);
  });

  test('text after the last count is estimated by its length', async () => {
    const pieces = [{ text: 'word '.repeat(18), counts: 18 }, ...repeat({ text: 'word ' }, 1000)];
    const passed = await passUntilCut(watch(coveredTokens), pieces);
    // 18 counted tokens, and 82 characters.
    assert.ok(passed !== undefined && passed - 1 >= 16 && passed - 1 <= 17, `${passed} pieces passed`);
  });

  for (const [name, toolCalls, inputTokens] of [
    ['what the upstream says was read is what is reckoned with', 0, 10],
    ['what it says at first is not all where the vendor runs tools', 1, 5000],
  ] as const)
    test(name, async () => {
      const { desk, budget } = watch(1_000_000, { inputTokens: 5000, toolCalls });
      const usageReport = { usage: { inputTokens: 10 }, raw: {}, trustworthy: true };
      assert.equal(await budget.review({ outputCharacters: 150, usageReport }), 'go');
      assert.equal(desk.heldNanoUsd, BigInt(inputTokens + 150 + coveredTokens));
    });
});
