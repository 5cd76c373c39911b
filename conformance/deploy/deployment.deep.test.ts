import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Ajv } from 'ajv';
import { parse } from 'yaml';

import { environmentVariables } from '../../src/main/environment.ts';
import { runCommand } from '../programs/run-command.ts';
import { findProblems } from './find-problems.ts';
import { findSchemaProblems, type Manifest, readBase, readManifests, renderOverlay, skipKustomize } from './read-manifests.ts';
import { chart, readRendered, renderChart, valueFiles, whyNotRendered } from './render-chart.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every set of manifests that somebody may apply. */
const sets = new Map<string, readonly Manifest[]>([
  ['the base', readBase()],
  ...(Object.keys(valueFiles) as readonly (keyof typeof valueFiles)[]).map(
    (name) => [`the chart with ${name}.yaml`, readManifests(readRendered(name).text)] as const,
  ),
  ...(skipKustomize === false ? [['the overlay production', renderOverlay('production')] as const] : []),
]);

test("every object matches Kubernetes' own schema of its kind", () => {
  const all = [...sets.values()].flat();
  assert.ok(all.length > 60);
  assert.equal(findSchemaProblems(all), '');
});

test('the comparison with the schemas finds unknown members, wrong types and missing members', () => {
  const [service] = readBase().filter(({ kind }) => kind === 'Service');
  assert.ok(service !== undefined);
  const wrong = [
    { ...service, spec: { ...service['spec'], selektor: {} } },
    { ...service, spec: { ports: [{ name: 'http', port: 'eighty' }] } },
    { ...service, spec: { ports: [{ name: 'http' }] } },
  ];
  assert.match(findSchemaProblems(wrong), /selektor[^]*string[^]*number[^]*port/);
});

for (const [name, manifests] of sets) {
  test(`${name}: least rights, secrets by reference, references that lead somewhere, and time to stop`, () => {
    assert.deepEqual(findProblems(manifests), []);
  });
}

test('the overlay is rendered by kustomize', { skip: skipKustomize }, () => {
  const manifests = sets.get('the overlay production') ?? [];
  assert.ok(manifests.filter(({ kind }) => kind !== 'Namespace').every(({ metadata }) => metadata['namespace'] === 'weir'));
  const images = JSON.stringify(manifests).match(/"image":"[^"]*"/g) ?? [];
  assert.deepEqual(new Set(images), new Set(['"image":"registry.example/weir:0.1.0"']));
  const metrics = manifests.find(({ kind }) => kind === 'HorizontalPodAutoscaler')?.['spec'].metrics;
  assert.deepEqual(
    metrics.map(({ type }: { readonly type: string }) => type),
    ['Pods', 'Resource'],
  );
});

for (const name of Object.keys(valueFiles) as readonly (keyof typeof valueFiles)[]) {
  test(`the chart with ${name}.yaml renders to what was kept`, (t) => {
    const kept = readRendered(name);
    assert.ok(kept.isCurrent, 'run: node conformance/deploy/render-chart.ts');
    if (whyNotRendered === undefined) assert.equal(renderChart(name), kept.text);
    else t.diagnostic(whyNotRendered);
  });
}

test("the chart's schema accepts its values, and names a wrong one", () => {
  const check = new Ajv({ allErrors: true }).compile(JSON.parse(read('deploy/helm/weir/values.schema.json')) as object);
  const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Record<string, any>;
  assert.equal(check(values), true, JSON.stringify(check.errors));
  const wrong: readonly (readonly [values: object, path: string])[] = [
    [{ ...values, gatway: {} }, ''],
    [{ ...values, gateway: { ...values['gateway'], kind: 'DaemonSet' } }, '/gateway/kind'],
    [{ ...values, secrets: { ...values['secrets'], owner: 'Not_A_Name' } }, '/secrets/owner'],
    [{ ...values, autoscaling: { streams: '200' } }, '/autoscaling/streams'],
    [{ ...values, config: { ...values['config'], timeouts: { drainMs: '5m' } } }, '/config/timeouts/drainMs'],
    [{ ...values, monitor: { resources: { limits: { memory: 'much' } } } }, '/monitor/resources/limits/memory'],
  ];
  for (const [value, path] of wrong) {
    assert.equal(check(value), false, path);
    assert.equal(check.errors?.[0]?.instancePath, path);
  }
});

test('the chart has the version of the program', () => {
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  const about = parse(read('deploy/helm/weir/Chart.yaml')) as Record<string, string>;
  assert.deepEqual([about['version'], about['appVersion']], [version, version]);
});

test('each configuration of a deployment is valid', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-deploy-'));
  try {
    const maps = [...sets.values()].flat().filter(({ kind }) => kind === 'ConfigMap');
    const texts = [...maps.map((map) => String(map['data']['weir.yaml'])), read('deploy/compose/weir.yaml')];
    for (const [index, text] of texts.entries()) {
      const file = join(folder, `${index}.yaml`);
      writeFileSync(file, text);
      const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
      const variables = Object.fromEntries(names.map((name) => [name, name.endsWith('URL') ? 'postgresql://db.example/weir' : 'sk-1']));
      const environment = { ...variables, WEIR_CONFIG: file, WEIR_DATA_DIR: folder };
      const { code, stderr } = await runCommand(['config', 'check'], environment);
      assert.equal(code, 0, stderr);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

type Service = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly networks: readonly string[];
  readonly stop_grace_period?: string;
  readonly restart: string;
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};

test('the compose file: referenced files and names exist, secrets are files, and only this machine reaches a port', () => {
  const compose = parse(read('deploy/compose.yaml'), { merge: true }) as Compose;
  const known = [
    ...environmentVariables.map(({ name }) => name),
    ...[...read('deploy/compose/weir.yaml').matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name),
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'GEMINI_API_KEY',
    'XAI_API_KEY',
  ];
  const used = new Set<string>();
  const problems: string[] = [];
  for (const [name, service] of Object.entries(compose.services)) {
    const demand = (holds: boolean, problem: string): void => void (holds || problems.push(`${name}: ${problem}`));
    for (const secret of service.secrets ?? []) {
      used.add(secret);
      demand(secret in compose.secrets, `no secret ${secret}`);
    }
    for (const [variable, value] of Object.entries(service.environment ?? {})) {
      const file = /^\/run\/secrets\/(.*)$/.exec(value)?.[1];
      demand(file === undefined || (service.secrets ?? []).includes(file), `${variable}: no secret ${String(file)}`);
      demand(file !== undefined || !/(?:KEY|TOKEN|PASSWORD|SECRET)(?:_|$)/.test(variable), `${variable} is a secret in clear`);
      if (service.image.includes('WEIR_IMAGE')) demand(known.includes(variable.replace(/_FILE$/, '')), `nothing reads ${variable}`);
    }
    for (const volume of service.volumes ?? []) {
      const [from = ''] = volume.split(':');
      demand(from.startsWith('.') ? existsSync(join(root, 'deploy', from)) : from in compose.volumes, `no volume ${from}`);
    }
    for (const port of service.ports ?? []) demand(port.startsWith('127.0.0.1:'), `port ${port} is open to others`);
    for (const network of service.networks) demand(network in compose.networks, `no network ${network}`);
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const before = compose.services[other];
      demand(before !== undefined, `waits for ${other}, which is not there`);
      const isCheckable = condition === 'service_healthy' ? before?.healthcheck?.test !== undefined : before?.restart === 'no';
      demand(isCheckable, `${condition} of ${other} never comes`);
    }
    demand(service.healthcheck !== undefined || service.restart === 'no', 'no health check');
    if (!service.image.includes('WEIR_IMAGE')) continue;
    demand(service.read_only === true && service.cap_drop?.[0] === 'ALL', 'rights that it does not need');
  }
  assert.deepEqual(problems, []);
  assert.deepEqual(
    Object.keys(compose.secrets).filter((name) => !used.has(name)),
    [],
  );
  assert.deepEqual(compose.services['postgres']?.networks, ['inside']);
  assert.equal(compose.networks['inside']?.internal, true);
  const { timeouts } = parse(read('deploy/compose/weir.yaml')) as { readonly timeouts: { drainDelayMs: number; drainMs: number } };
  const grace = Number.parseInt(compose.services['gateway']?.stop_grace_period ?? '', 10) * 1000;
  assert.equal(grace, timeouts.drainDelayMs + timeouts.drainMs + 25_000);
  for (const script of ['make-secrets.sh', 'make-roles.sh'])
    assert.equal(statSync(join(root, 'deploy/compose', script)).mode & 0o111, 0o111, script);
});
