import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ConfigError } from './config-error.ts';
import { readConfig } from './read-config.ts';
import { buildTokenIssuers } from './token-issuers.ts';

const read = (issuers: readonly object[]) =>
  readConfig({ text: JSON.stringify({ callers: { issuers } }), file: 'weir.yaml', variable: () => undefined });
const base = { name: 'ci', issuer: 'https://issuer.example', audience: 'weir' };

test('an issuer needs a name, an address and an audience; the rest has defaults', () => {
  assert.deepEqual(buildTokenIssuers(read([base])), [
    {
      name: 'ci',
      issuer: 'https://issuer.example',
      audiences: ['weir'],
      jwksUrl: undefined,
      algorithms: ['RS256', 'ES256'],
      user: '{sub}',
      key: 'ci',
      claims: {},
      limits: {},
      keysMax: 10_000,
    },
  ]);
  assert.deepEqual(buildTokenIssuers({}), []);
  const [issuer] = buildTokenIssuers(read([{ ...base, audience: ['a', 'b'], models: ['gpt-*'], limits: { concurrency: 2 } }]));
  assert.deepEqual([issuer?.audiences, issuer?.limits], [['a', 'b'], { concurrency: 2, models: ['gpt-*'] }]);
});

test('a wrong issuer is refused with the place and what would be right', () => {
  for (const [issuers, path, message] of [
    [[{ ...base, algorithms: ['HS256'] }], 'callers.issuers.0.algorithms.0', /RS256/],
    [[{ ...base, algorithms: ['none'] }], 'callers.issuers.0.algorithms.0', /RS256/],
    [[{ ...base, algorithms: [] }], 'callers.issuers.0.algorithms', /./],
    [[{ name: 'ci', issuer: base.issuer }], 'callers.issuers.0.audience', /required/],
    [[{ ...base, issuer: 'http://issuer.example' }], 'callers.issuers.0.issuer', /https address, or jwksUrl/],
    [[{ ...base, issuer: 'kubernetes/serviceaccount' }], 'callers.issuers.0.issuer', /jwksUrl must name/],
    [[{ ...base, jwksUrl: 'http://issuer.example/keys' }], 'callers.issuers.0.jwksUrl', /https address/],
    [[{ ...base, jwksUrl: 'https://user:pass@issuer.example/keys' }], 'callers.issuers.0.jwksUrl', /https address/],
    [[{ ...base, user: '{a}-{b}' }], 'callers.issuers.0.user', /at most one claim/],
    [[{ ...base, key: '{' }], 'callers.issuers.0.key', /at most one claim/],
    [[{ ...base, models: ['a*b'] }], 'callers.issuers.0.models', /end of a name/],
    [[base, { ...base, name: 'other' }], 'callers.issuers.1.issuer', /used twice/],
    [[base, { ...base, issuer: 'https://other.example' }], 'callers.issuers.1.name', /used twice/],
    [[{ ...base, name: 'With Space' }], 'callers.issuers.0.name', /./],
  ] as const) {
    assert.throws(
      () => read(issuers),
      (error) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.deepEqual(
          error.problems.map((problem) => problem.path),
          [path],
        );
        assert.match(error.problems[0]?.message ?? '', message);
        return true;
      },
    );
  }
});
