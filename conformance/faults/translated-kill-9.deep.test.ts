import assert from 'node:assert/strict';
import { test } from 'node:test';

import { killUnderLoad } from '../books/kill-under-load.ts';
import { usualOrLong } from '../support/scale.ts';
import { translatedModel, translating, translations } from './translated-models.ts';

const kills = Number(process.env['WEIR_KILLS'] ?? usualOrLong(2, 5));

test(`killed ${kills} times under a load of translated calls: every answered call is booked once, and no call is charged too much`, async (context) => {
  const entries = await killUnderLoad(context, {
    kills,
    seed: 20_261_121,
    clients: 8,
    config: (addresses) => ({ upstreams: translating.upstreams?.(addresses) ?? {}, models: translating.models ?? {} }),
    modeOf: (number) => {
      const { mode, to } = translations[number % translations.length] ?? translations[0] ?? assert.fail();
      return { api: { ...mode.api, model: translatedModel(to) }, stream: mode.stream };
    },
  });
  assert.ok(entries.some(({ translation }) => translation !== undefined));
});
