import assert from 'node:assert/strict';
import { test } from 'node:test';

import { auditPowerLosses } from './audit-power-loss.ts';

const seed = Number(process.env['WEIR_SEED'] ?? 20_261_123);

test(`M1 M3: a journal loses its power repeatedly, with any subset of its unsynced writes, torn anywhere, and no synced record is missing, changed or doubled (seed ${seed})`, async (context) => {
  const { problems, ...figures } = await auditPowerLosses({ losses: 150, seed });
  context.diagnostic(JSON.stringify(figures));
  assert.deepEqual(problems, []);
  assert.ok(figures.vanished > 0 && figures.settled > 0 && figures.returned > 0, 'the power losses had an effect');
});
