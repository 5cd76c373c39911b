import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { LayerDocument } from '../../control/layers/config-layer.ts';
import { exportConfigFile } from './export-config.ts';
import { readConfig } from './read-config.ts';

const text = `# the key of the test account is sk-in-a-comment
upstreams:
  own: { vendor: openai, apiKey: sk-in-the-file } # and sk-again
  named: { vendor: anthropic, apiKey: "\${ANTHROPIC}" }
  local: { vendor: openai-compatible, baseUrl: "http://user:password@127.0.0.1:1/v1", proxy: "http://u:sk-proxy@p.example:1" }
models:
  m: { targets: [{ upstream: own }] }
database: { url: "postgres://weir:sk-database@db.example/weir" }
limits:
`;
const document: LayerDocument = {
  upstreams: {
    own: { vendor: 'xai' },
    'a-b': { vendor: 'openai', apiKey: 'sk-layer' },
    'a.b': { vendor: 'openai', apiKeys: ['sk-1', 'sk-2'] },
  },
  models: { m: { targets: [{ upstream: 'a-b' }] }, 'n*': { targets: [{ upstream: 'a.b' }] } },
  limits: { perKey: { concurrency: 4 } },
};
const layer = { number: 3, document };
const read = (yaml: string) => readConfig({ text: yaml, file: 'weir.yaml', variable: (name) => (name === 'ANTHROPIC' ? 'x' : undefined) });
const variables = { environmentUpstreams: {} };

test('the file comes first, and the layer adds the other names', () => {
  const joined = read(exportConfigFile(text, layer, { ...variables, withSecrets: true }));
  assert.deepEqual(Object.keys(joined.upstreams ?? {}), ['own', 'named', 'local', 'a-b', 'a.b']);
  assert.deepEqual([joined.upstreams?.['own']?.vendor, joined.upstreams?.['own']?.apiKey], ['openai', 'sk-in-the-file']);
  assert.deepEqual([joined.models?.['m']?.targets, joined.models?.['n*']?.targets], [[{ upstream: 'own' }], [{ upstream: 'a.b' }]]);
  assert.deepEqual([joined.limits?.perKey, joined.upstreams?.['a.b']?.apiKeys], [{ concurrency: 4 }, ['sk-1', 'sk-2']]);
});

test('without secrets they are variables of different names, comments are gone, and the file is still valid', () => {
  const yaml = exportConfigFile(text, layer, { ...variables, withSecrets: false });
  for (const hidden of ['sk-', 'password']) assert.ok(!yaml.includes(hidden), yaml);
  assert.match(yaml, /^# weir\.yaml with layer 3/);
  assert.match(yaml, /\$\{ANTHROPIC\}/);
  const names = [...yaml.matchAll(/\$\{(WEIR_\w+):-/g)].map(([, name]) => name);
  assert.equal(names.length, new Set(names).size);
  assert.ok(names.includes('WEIR_UPSTREAMS_A_B_API_KEY'), String(names));
  assert.equal(read(yaml).upstreams?.['own']?.apiKey, 'WEIR_UPSTREAMS_OWN_API_KEY is not set');
});

test('an empty file and no layer are an empty file; a layer alone is the whole', () => {
  assert.deepEqual(read(exportConfigFile('', undefined, { ...variables, withSecrets: false })), {});
  const joined = read(exportConfigFile('', layer, { environmentUpstreams: {}, withSecrets: true }));
  assert.deepEqual(joined, { upstreams: document.upstreams, models: document.models, limits: document.limits });
});

test('vendors of the environment stay in use beside the upstreams of a layer', () => {
  const environmentUpstreams = { openai: { vendor: 'openai', apiKey: 'sk-secret' } } as const;
  const yaml = exportConfigFile('timeZone: UTC', layer, { environmentUpstreams, withSecrets: false });
  assert.match(yaml, /openai:\n +vendor: openai\n +apiKey: \$\{OPENAI_API_KEY\}/);
  assert.ok(!yaml.includes('sk-'));
});
