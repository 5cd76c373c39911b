import assert from 'node:assert/strict';
import { test } from 'node:test';

import { skipPostgres } from '../support/start-postgres.ts';
import { auditCrashes } from './audit-crashes.ts';

/** Kills of gateways on each engine; a release has 10,000 (npm run card -- --long). */
const kills = Number(process.env['WEIR_KILLS'] ?? 3);
/** A new world begins after this many kills, because requests are identified by their length. */
const killsPerWorld = 200;
const seed = Number(process.env['WEIR_SEED'] ?? 20_261_122);

for (const engine of ['sqlite', 'postgres'] as const)
  test(
    `M1 M3 M5 M6: three processes on ${engine} are killed under load and in a burst on a key at its limit, and no call is missing, doubled, held or beyond the limit (seed ${seed})`,
    {
      skip: engine === 'postgres' ? skipPostgres : false,
    },
    async (context) => {
      for (let done = 0; done < kills; done += killsPerWorld) {
        const { problems, shortfalls, ...figures } = await auditCrashes({
          engine,
          kills: Math.min(killsPerWorld, kills - done),
          seed: seed + done,
          clients: 6,
          crowd: 120,
        });
        const reported = { engine, kills: Math.min(killsPerWorld, kills - done), ...figures, cut: shortfalls.length };
        context.diagnostic(
          Object.entries(reported)
            .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
            .join('; '),
        );
        assert.deepEqual(problems, []);
      }
    },
  );
