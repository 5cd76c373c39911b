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
  test('its report is exact and is stored with the vendor’s raw usage', () => {
    const usage = { inputTokens: 12, outputTokens: 3, webSearches: 1 };
    assert.deepEqual(meterCall({ end: 'finished', report: report(usage, { serviceTier: 'flex' }), ...characters }), {
      usage,
      rawUsage: { seen: true },
      estimated: false,
      serviceTier: 'flex',
    });
  });

  test('an explicit zero stays zero, and a missing field stays unknown, except for output that was delivered', () => {
    const metered = meterCall({ end: 'finished', report: report({ inputTokens: 12, outputTokens: 0 }), ...characters });
    assert.deepEqual(metered.usage, { inputTokens: 12, outputTokens: 0 });
    assert.equal(metered.estimated, false);
    const silent = meterCall({ end: 'finished', report: report({ inputTokens: 12 }), ...characters });
    assert.deepEqual([silent.usage, silent.estimated], [{ inputTokens: 12, outputTokens: 25 }, true]);
    const nothing = meterCall({ end: 'finished', report: report({ inputTokens: 12 }), inputCharacters: 400, outputCharacters: 0 });
    assert.deepEqual([nothing.usage, nothing.estimated], [{ inputTokens: 12 }, false]);
  });

  test('F24: a count of output is a lower bound if the stream continued after it', () => {
    const output = (outputTokens: number, inputTokens?: number) =>
      meterCall({
        end: 'finished',
        report: report({ outputTokens, ...(inputTokens === undefined ? {} : { inputTokens }) }, { outputGoesOn: true }),
        ...characters,
      });
    assert.deepEqual(output(1, 12), { usage: { inputTokens: 12, outputTokens: 25 }, rawUsage: { seen: true }, estimated: true });
    assert.deepEqual(output(90).usage, { inputTokens: 100, outputTokens: 90 });
  });

  test('a missing or empty usage is replaced by our own counts', () => {
    const counted = { inputTokens: 100, outputTokens: 25 };
    assert.deepEqual(meterCall({ end: 'finished', ...characters }), { usage: counted, estimated: true });
    const empty = meterCall({ end: 'finished', report: report({}), ...characters });
    assert.deepEqual([empty.usage, empty.estimated], [counted, true]);
  });

  test('a malformed count is replaced by our own, and the others are kept', () => {
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

  test('without reported usage, input is the reported or estimated one, and output is the delivered one', () => {
    for (const end of ends) {
      assert.deepEqual(meterCall({ end, ...characters }), { usage: { inputTokens: 100, outputTokens: 25 }, estimated: true });
      const metered = meterCall({ end, progressUsage: { inputTokens: 9, cacheReadTokens: 5 }, ...characters });
      assert.deepEqual(metered.usage, { inputTokens: 9, cacheReadTokens: 5, outputTokens: 25 });
    }
  });

  test('the larger of reported and delivered output is charged', () => {
    const output = (outputTokens: number) =>
      meterCall({ end: 'cut', progressUsage: { inputTokens: 1, outputTokens }, ...characters }).usage.outputTokens;
    assert.deepEqual([output(1), output(90)], [25, 90]);
  });

  test('a report that is not final is treated like progress', () => {
    const metered = meterCall({ end: 'client-left', complete: false, report: report({ inputTokens: 9, outputTokens: 1 }), ...characters });
    assert.deepEqual([metered.usage, metered.estimated, metered.rawUsage], [{ inputTokens: 9, outputTokens: 25 }, true, { seen: true }]);
  });

  test('a final report is exact, even if the call was interrupted after it', () => {
    const metered = meterCall({ end: 'client-left', complete: true, report: report({ inputTokens: 9, outputTokens: 2 }), ...characters });
    assert.deepEqual([metered.usage, metered.estimated], [{ inputTokens: 9, outputTokens: 2 }, false]);
  });
});

test('characters, audio and video are counted in full however the call ends, and never filled up with tokens', () => {
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

test('counts are integers of 0 or more, and only a plausible final report is exact', () => {
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
