import assert from 'node:assert/strict';
import { test } from 'node:test';

import { meterNames, meters } from '../../../inference/meters.ts';
import { limitToDelivered } from './limit-to-delivered.ts';

test('nothing that the upstream says of its output is charged beyond what was handed over, of whatever kind it is', () => {
  const usage = Object.fromEntries(meterNames.map((meter) => [meter, 1000]));
  const report = { usageReport: { usage, raw: {}, trustworthy: true }, outputCharacters: 9000 };
  const limited = limitToDelivered(report, 40);
  const left = Object.keys(limited.usageReport?.usage ?? {});
  assert.equal(limited.outputCharacters, 40);
  assert.deepEqual(
    left.filter((meter) => meter in meters),
    meterNames.filter((meter) => {
      const facts = meters[meter];
      return facts.unit !== 'token' || facts.side === 'input';
    }),
  );
  assert.ok(!left.includes('outputImageTokens'));
  assert.ok(left.includes('inputTokens'));
});
