import { test } from 'node:test';

import { usualOrLong } from '../support/scale.ts';
import { killUnderLoad } from './kill-under-load.ts';
import { modeOf } from './load.ts';

const kills = Number(process.env['WEIR_KILLS'] ?? usualOrLong(4, 12));
const seed = Number(process.env['WEIR_SEED'] ?? 20_260_103);

test(`F54: killed ${kills} times under load (seed ${seed}): every answered call is booked once, and no call is charged too much`, async (context) => {
  await killUnderLoad(context, { kills, seed, clients: 12, modeOf });
});
