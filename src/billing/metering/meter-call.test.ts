import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { type CallMeasurement, meterCall } from './meter-call.ts';

function report(usage: Usage, more: Partial<UsageReport> = {}): UsageReport {
  return { usage, raw: { seen: true }, trustworthy: true, ...more };
}

const characters = { inputCharacters: 400, outputCharacters: 100 };

describe('a finished call', () => {
  test('its report is exact and travels with the vendor’s own words', () => {
    const usage = { inputTokens: 12, outputTokens: 3, webSearches: 1 };
    assert.deepEqual(meterCall({ end: 'finished', report: report(usage, { serviceTier: 'flex' }), ...characters }), {
      usage,
      rawUsage: { seen: true },
      estimated: false,
      serviceTier: 'flex',
    });
  });

  test('explicit-zero stays zero, and a silent field stays unknown, but for output that was delivered: that is counted', () => {
    const metered = meterCall({ end: 'finished', report: report({ inputTokens: 12, outputTokens: 0 }), ...characters });
    assert.deepEqual(metered.usage, { inputTokens: 12, outputTokens: 0 });
    assert.equal(metered.estimated, false);
    const silent = meterCall({ end: 'finished', report: report({ inputTokens: 12 }), ...characters });
    assert.deepEqual([silent.usage, silent.estimated], [{ inputTokens: 12, outputTokens: 25 }, true]);
    const nothing = meterCall({ end: 'finished', report: report({ inputTokens: 12 }), inputCharacters: 400, outputCharacters: 0 });
    assert.deepEqual([nothing.usage, nothing.estimated], [{ inputTokens: 12 }, false]);
  });

  test('F24: a count of output after which the stream went on is the least that it was', () => {
    const output = (outputTokens: number, inputTokens?: number) =>
      meterCall({
        end: 'finished',
        report: report({ outputTokens, ...(inputTokens === undefined ? {} : { inputTokens }) }, { outputGoesOn: true }),
        ...characters,
      });
    assert.deepEqual(output(1, 12), { usage: { inputTokens: 12, outputTokens: 25 }, rawUsage: { seen: true }, estimated: true });
    assert.deepEqual(output(90).usage, { inputTokens: 100, outputTokens: 90 });
  });

  test('usage-absent, or an object that says nothing: counted', () => {
    const counted = { inputTokens: 100, outputTokens: 25 };
    assert.deepEqual(meterCall({ end: 'finished', ...characters }), { usage: counted, estimated: true });
    const empty = meterCall({ end: 'finished', report: report({}), ...characters });
    assert.deepEqual([empty.usage, empty.estimated], [counted, true]);
  });

  test('malformed-count: it is counted instead, the others stand', () => {
    const output = meterCall({ end: 'finished', report: report({ inputTokens: 12 }, { trustworthy: false }), ...characters });
    assert.deepEqual([output.usage, output.estimated], [{ inputTokens: 12, outputTokens: 25 }, true]);
    const input = meterCall({
      end: 'finished',
      report: report({ outputTokens: 0, cacheReadTokens: 30 }, { trustworthy: false }),
      ...characters,
    });
    assert.deepEqual([input.usage, input.estimated], [{ outputTokens: 0, cacheReadTokens: 30, inputTokens: 70 }, true]);
  });
});

describe('an interrupted call', () => {
  const ends = ['client-left', 'cut', 'lost'] as const;

  test('usage-not-yet-reported: reported input if known, else estimated; delivered output', () => {
    for (const end of ends) {
      assert.deepEqual(meterCall({ end, ...characters }), { usage: { inputTokens: 100, outputTokens: 25 }, estimated: true });
      const metered = meterCall({ end, progressUsage: { inputTokens: 9, cacheReadTokens: 5 }, ...characters });
      assert.deepEqual(metered.usage, { inputTokens: 9, cacheReadTokens: 5, outputTokens: 25 });
    }
  });

  test('the larger of reported and delivered output counts', () => {
    const output = (outputTokens: number) =>
      meterCall({ end: 'cut', progressUsage: { inputTokens: 1, outputTokens }, ...characters }).usage.outputTokens;
    assert.deepEqual([output(1), output(90)], [25, 90]);
  });

  test('usage-before-the-cut: a merged report that is not final is treated like progress', () => {
    const metered = meterCall({ end: 'client-left', complete: false, report: report({ inputTokens: 9, outputTokens: 1 }), ...characters });
    assert.deepEqual([metered.usage, metered.estimated, metered.rawUsage], [{ inputTokens: 9, outputTokens: 25 }, true, { seen: true }]);
  });

  test('usage-arrived-just-before: a final report is exact, whoever left', () => {
    const metered = meterCall({ end: 'client-left', complete: true, report: report({ inputTokens: 9, outputTokens: 2 }), ...characters });
    assert.deepEqual([metered.usage, metered.estimated], [{ inputTokens: 9, outputTokens: 2 }, false]);
  });
});

test('characters, sound and video are counted in full however the call ends, and never made up to tokens', () => {
  for (const usage of [{ inputCharacters: 12 }, { inputAudioMs: 9000 }, { outputVideoMs: 5000, inputImages: 1 }, { outputImages: 2 }]) {
    for (const end of ['finished', 'client-left', 'cut'] as const) {
      const metered = meterCall({ end, complete: end === 'finished', report: report(usage), ...characters });
      assert.deepEqual([metered.usage, metered.estimated], [usage, false]);
      const guessed = meterCall({ end, report: report(usage, { trustworthy: false }), ...characters });
      assert.deepEqual([guessed.usage, guessed.estimated], [usage, true]);
    }
    assert.deepEqual(meterCall({ end: 'lost', progressUsage: usage, ...characters }), { usage, estimated: false });
  }
});

test('a failed call used nothing, whatever it reported', () => {
  assert.deepEqual(meterCall({ end: 'failed', report: report({ inputTokens: 9 }), progressUsage: { outputTokens: 4 }, ...characters }), {
    usage: {},
    estimated: false,
  });
});

test('counts are whole and never negative, and only a final report of good faith is exact', () => {
  const count = fc.option(fc.nat(1000), { nil: undefined });
  const usage = fc
    .record({ inputTokens: count, cacheReadTokens: count, cacheWrite5mTokens: count, outputTokens: count })
    .map((counts) => Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined)) as Usage);
  const measurement = fc.record({
    end: fc.constantFrom('finished', 'client-left', 'cut', 'lost'),
    usage,
    trustworthy: fc.boolean(),
    complete: fc.boolean(),
    progressUsage: usage,
    inputCharacters: fc.nat(10_000),
    outputCharacters: fc.nat(10_000),
  });
  fc.assert(
    fc.property(measurement, ({ usage: reported, trustworthy, ...rest }) => {
      const call = { ...rest, report: report(reported, { trustworthy }) } as CallMeasurement;
      const metered = meterCall(call);
      for (const value of Object.values(metered.usage)) assert.ok(Number.isSafeInteger(value) && value >= 0);
      if (!metered.estimated) assert.ok(trustworthy && rest.complete && metered.usage === call.report?.usage);
      if (metered.estimated) assert.ok(metered.usage.inputTokens !== undefined && metered.usage.outputTokens !== undefined);
      for (const [meter, value] of Object.entries(reported)) assert.ok((metered.usage[meter as keyof Usage] ?? -1) >= value, meter);
    }),
    { numRuns: 300 },
  );
});
