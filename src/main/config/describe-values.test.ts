import assert from 'node:assert/strict';
import { test } from 'node:test';

import { configSchema } from './config-schema.ts';
import { describeValues, readWritten } from './describe-values.ts';
import { readConfig } from './read-config.ts';

const text = `upstreams:
  main:
    vendor: openai
    apiKey: \${OPENAI_KEY}
    baseUrl: https://user:password@openai.example/v1
    forwardHeaders: [x-team]
  spare:
    vendor: openai
    apiKeys: [short, sk-a-credential-of-some-length]
models:
  fast:
    targets:
      - { upstream: main, model: gpt-5-mini, weight: 2, priority: 1 }
      - { upstream: spare, model: gpt-5-mini, priority: 1 }
limits:
  perKey:
    requestsPerMinute: 100
  requestBytesMax: 2048
database: { url: "postgres://weir:secret@db.example/weir" }
timeZone: \${ZONE:-UTC}
`;
const variables: Readonly<Record<string, string>> = { OPENAI_KEY: 'sk-from-the-environment-1234' };
const config = readConfig({ text, file: 'weir.yaml', variable: (name) => variables[name] });
const described = describeValues(configSchema, config, { written: readWritten(text), path: [], from: 'environment' });
const find = (path: string) => described.find((value) => value.path === path);

test('a value has its line, its default, and the file as its source', () => {
  assert.deepEqual(find('limits.requestBytesMax'), {
    path: 'limits.requestBytesMax',
    default: 33_554_432,
    from: 'file',
    line: 18,
    value: 2048,
  });
  assert.deepEqual([find('limits.perKey.requestsPerMinute')?.value, find('limits.perKey.requestsPerMinute')?.line], [100, 17]);
});

test('a value that is not set has its default, and says so', () => {
  const { value, default: standard, from, line } = find('retries.attemptsMax') ?? assert.fail();
  assert.deepEqual([value, standard, from, line], [3, 3, 'default', undefined]);
});

test('names and list members are steps of a path', () => {
  assert.deepEqual(
    [
      find('models.fast.targets.0.weight')?.value,
      find('models.fast.targets.1.upstream')?.value,
      find('models.fast.targets.1.upstream')?.line,
    ],
    [2, 'spare', 14],
  );
  assert.deepEqual(find('upstreams.main.forwardHeaders')?.value, ['x-team']);
});

test('a secret has no value; the end is shown only if it is long enough', () => {
  assert.deepEqual(find('upstreams.main.apiKey'), {
    path: 'upstreams.main.apiKey',
    from: 'environment',
    variable: 'OPENAI_KEY',
    line: 4,
    secret: { set: true, endsIn: '1234' },
  });
  // A list of secrets is a secret as a whole.
  assert.deepEqual([find('upstreams.spare.apiKeys')?.secret, find('upstreams.spare.apiKeys')?.value], [{ set: true }, undefined]);
  assert.deepEqual(find('upstreams.main.apiKeys')?.secret, { set: false });
  assert.deepEqual([find('database.url')?.value, find('database.url')?.secret?.set], [undefined, true]);
});

test('a value from the environment counts as a secret, whatever its name', () => {
  assert.deepEqual([find('timeZone')?.value, find('timeZone')?.variable, find('timeZone')?.secret], [undefined, 'ZONE', { set: true }]);
});

test('an address is shown without its user and its password', () => {
  assert.equal(find('upstreams.main.baseUrl')?.value, 'https://openai.example/v1');
});

test('no secret is anywhere in the description', () => {
  const shown = JSON.stringify(described);
  for (const secret of ['sk-from', 'user:password', 'sk-a-cred', 'short', 'weir:secret']) assert.ok(!shown.includes(secret), secret);
});

test('a secret by reference has its name, and nothing of its value', () => {
  const refers = 'upstreams: { main: { vendor: openai, apiKey: "${vault:secret/weir/openai#key}" } }\n';
  const secrets = { find: () => 'sk-from-the-vault-0123456789' };
  const read = readConfig({ text: refers, file: 'weir.yaml', variable: () => undefined, secrets });
  assert.equal(read.upstreams?.['main']?.apiKey, 'sk-from-the-vault-0123456789');
  const values = describeValues(configSchema, read, { written: readWritten(refers), path: [], from: 'environment' });
  const key = values.find(({ path }) => path === 'upstreams.main.apiKey');
  assert.deepEqual(
    { secret: key?.secret, reference: key?.reference, from: key?.from },
    { secret: { set: true }, reference: 'vault:secret/weir/openai#key', from: 'file' },
  );
  assert.ok(!JSON.stringify(values).includes('6789'));
});
