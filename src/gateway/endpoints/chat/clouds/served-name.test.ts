import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Route } from '../../../attempts/routing/routing-table.ts';
import { servedName } from './served-name.ts';

const serving = (...names: readonly string[]) => ({
  routeOf: (name: string) => (names.includes(name) ? ({} as unknown as Route) : undefined),
});
const dated = 'claude-sonnet-4-5-20250929';

for (const [asked, name] of [
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', dated],
  ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', dated],
  ['anthropic.claude-sonnet-4-5-20250929-v1', dated],
  ['arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0', dated],
  ['claude-sonnet-4-5@20250929', dated],
  ['us.anthropic.claude-opus-5', 'claude-opus-5'],
  ['claude-opus-5@default', 'claude-opus-5'],
  ['openai.gpt-oss-20b-1:0', 'gpt-oss-20b-1'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
] as const) {
  test(`${asked} is ${name}`, () => assert.equal(servedName(asked, serving(name)), name));
}

test('a name that is served as it is stays, and so does one that nobody serves', () => {
  const profile = 'us.anthropic.claude-opus-5';
  assert.equal(servedName(profile, serving(profile, 'claude-opus-5')), profile);
  assert.equal(servedName(profile, serving()), profile);
  assert.equal(servedName('gpt-4.1:free', serving('gpt-4.1')), 'gpt-4.1:free');
});

test('a name with a date goes to the model with it before the one without', () => {
  assert.equal(servedName('claude-sonnet-4-5@20250929', serving('claude-sonnet-4-5', dated)), dated);
});
