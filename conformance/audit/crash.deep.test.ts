import assert from 'node:assert/strict';
import { test } from 'node:test';

import { skipPostgres } from '../support/start-postgres.ts';
import { auditCrashes } from './audit-crashes.ts';

const seed = Number(process.env['WEIR_SEED'] ?? 20_261_122);

for (const engine of ['sqlite', 'postgres'] as const)
  test(
    `M1 M3 M5 M6: three processes on ${engine} are killed under load and in a burst on a key at its limit, and no call is missing, doubled, held or beyond the limit (seed ${seed})`,
    {
      skip: engine === 'postgres' ? skipPostgres : false,
    },
    async (context) => {
      const { problems, shortfalls, ...figures } = await auditCrashes({ engine, kills: 3, seed, clients: 6, crowd: 120 });
      const reported = { ...figures, cut: shortfalls.length };
      context.diagnostic(
        Object.entries(reported)
          .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
          .join('; '),
      );
      assert.deepEqual(problems, []);
    },
  );
