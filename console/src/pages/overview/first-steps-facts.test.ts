import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Facts, stepsOf } from './first-steps-facts.ts';

const nothing = { amount: { nano_usd: '0', usd: '0' }, calls: 0 };
const before = { amounts: [], calls: [], tokens: [] };
const day = { calls: 0, failed_share: null, first_byte_p95_ms: null, bucket_starts: [], hours: null, series: [], before };
const upstream = {
  name: 'a',
  vendor: 'openai',
  title: 'OpenAI',
  address: '',
  dialects: [],
  credentials: [],
  is_simulated: true,
  nodes: [],
  secrets: [],
};
const person = { id: 'per_1', name: 'operator', role: 'operator', has_password: false } as const;
const alertField = {
  path: 'alerts.channels.chat.type',
  value: 'slack',
  default: null,
  secret: null,
  from: 'file',
  variable: null,
  reference: null,
  line: 3,
  needs_restart: false,
} as const;
const fresh: Facts = {
  overview: { month: nothing, last_day: day },
  keys: { items: [] },
  upstreams: { items: [upstream] },
  standings: { total: 0 },
  config: { fields: [{ ...alertField, path: 'alerts.checkSeconds', value: 15, from: 'default', line: null }] },
  person,
};
const doneOf = (facts: Facts): readonly string[] => stepsOf(facts).flatMap(({ text, isDone }) => (isDone ? [text] : []));

test('of a new installation nothing is done', () => {
  assert.deepEqual(doneOf(fresh), []);
});

test('each step is done by its own fact alone', () => {
  const changes: readonly (readonly [Partial<Facts>, string])[] = [
    [{ overview: { month: { ...nothing, calls: 1 }, last_day: day } }, 'Make a first call'],
    [{ overview: { month: nothing, last_day: { ...day, calls: 2 } } }, 'Make a first call'],
    [{ upstreams: { items: [upstream, { ...upstream, name: 'b', is_simulated: false }] } }, 'Connect a vendor'],
    [{ keys: { items: [{ is_playground: false }, { is_playground: false }] } }, 'Make a key for an application or a colleague'],
    [{ standings: { total: 1 } }, 'Set a spend limit'],
    [{ config: { fields: [alertField] } }, 'Get a message when something goes wrong'],
    [{ person: { ...person, has_password: true } }, 'Set a password'],
  ];
  for (const [change, text] of changes) assert.deepEqual(doneOf({ ...fresh, ...change }), [text]);
});

test('keys that the playground makes are no key for an application', () => {
  assert.deepEqual(doneOf({ ...fresh, keys: { items: [{ is_playground: false }, { is_playground: true }, { is_playground: true }] } }), []);
});
