import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { chatDialects, dialectIds, upstreamDialects } from '../src/dialects/registry.ts';
import { interfaces } from '../src/inference/interfaces.ts';
import { findCircles } from './find-circles.ts';
import { gatewayLayers } from './gateway-layers.ts';
import { layers, restrictedWords, siblingFolders } from './layers.ts';
import { readSourceFiles, root } from './source-files.ts';

const sources = readSourceFiles('src');
const topFolder = (path: string): string => path.split('/')[1] ?? '';

test('every folder of src is in the layer table', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(folders.map((entry) => entry.name).toSorted(), Object.keys(layers).toSorted());
});

test('the tables of the project rules contain only existing names', () => {
  const missing = [
    ...Object.values(layers)
      .flat()
      .filter((folder) => !Object.hasOwn(layers, folder)),
    ...siblingFolders.filter((folder) => !Object.hasOwn(layers, folder)),
    ...restrictedWords
      .filter(({ allowed }) => allowed.source !== '^$' && !sources.some(({ path }) => allowed.test(path)))
      .map(({ allowed }) => allowed.source),
  ];
  assert.deepEqual(missing, []);
});

test('imports follow the layer table', () => {
  const wrong = sources.flatMap((file) => {
    const from = topFolder(file.path);
    const allowed = [from, 'platform', ...(layers[from] ?? [])];
    return file.imports
      .filter((target) => target.startsWith('src/') && !allowed.includes(topFolder(target)))
      .map((target) => `${file.path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test('only main knows the simulator, and nobody imports main', () => {
  const wrong = sources.flatMap((file) =>
    file.imports
      .filter((target) => (/simulator/.test(target) || topFolder(target) === 'main') && topFolder(file.path) !== 'main')
      .map((target) => `${file.path} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('the simulator imports nothing from the gateway', () => {
  const wrong = readSourceFiles('simulator/src').flatMap((file) =>
    file.imports.filter((target) => target.startsWith('src/')).map((target) => `${file.path} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('siblings among dialects and upstreams never import each other', () => {
  const wrong = sources.flatMap((file) => {
    const [, top = '', own, ...rest] = file.path.split('/');
    if (!siblingFolders.includes(top) || rest.length === 0 || own === 'testing') return [];
    return file.imports
      .filter(
        (target) =>
          target.startsWith(`src/${top}/`) && target.split('/').length > 3 && ![own, 'testing'].includes(target.split('/')[2] ?? ''),
      )
      .map((target) => `${file.path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test('restricted words are only in the permitted files', () => {
  const wrong = sources
    .filter((file) => !file.path.endsWith('.test.ts'))
    .flatMap((file) =>
      restrictedWords
        .filter(({ pattern, allowed }) => pattern.test(file.text) && !allowed.test(file.path))
        .map(({ reason }) => `${file.path}: ${reason}`),
    );
  assert.deepEqual(wrong, []);
});

test('log lines name a call callId, and nothing else', () => {
  const call = /\b(?:logger|log)\??\.(?:debug|info|warn|error)\(\s*\{([^}]*)/g;
  const wrong = sources.flatMap((file) =>
    [...file.text.matchAll(call)]
      .filter(([, members = '']) => /(?:^|,)\s*(?:requestId|request_id|call)\s*(?:[,:]|$)/.test(members))
      .map(([line]) => `${file.path}: ${line}`),
  );
  assert.deepEqual(wrong, []);
});

test('the layer table in ARCHITECTURE.md is the enforced one', () => {
  const document = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  for (const [folder, allowed] of Object.entries(layers)) {
    const row = folder === 'platform' ? '| platform | |' : `| ${folder} | ${['platform', ...allowed].toSorted().join(', ')} |`;
    assert.ok(document.includes(row), `ARCHITECTURE.md should have the row: ${row}`);
  }
});

/** Doubles and suites that all dialects share. */
const shared = new Set(['testing']);

test('every dialect folder has the required files', () => {
  const required = [
    'request-schema.ts',
    'validate-request.ts',
    'read-facts.ts',
    'create-stream-tap.ts',
    'encode-error.ts',
    'README.md',
    'fixtures',
  ];
  const ofUpstreams = ['create-stream-tap.ts', 'read-reply.ts', 'README.md', 'fixtures'];
  const folders = readdirSync(join(root, 'src/dialects'), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !shared.has(entry.name),
  );
  const missing = folders.flatMap((folder) => {
    const present = readdirSync(join(root, 'src/dialects', folder.name));
    // Requests of clients are only read in dialects that clients speak.
    if (folder.name in upstreamDialects && !(folder.name in chatDialects))
      return ofUpstreams.filter((name) => !present.includes(name)).map((name) => `${folder.name}/${name}`);
    // Interfaces other than chats have no codec, and no line in the registry.
    if (!dialectIds.some((id) => id === folder.name)) return present.includes('README.md') ? [] : [`${folder.name}/README.md`];
    return required.filter((name) => !present.includes(name)).map((name) => `${folder.name}/${name}`);
  });
  assert.deepEqual(missing, []);
});

/** File names of doubles, kits and suites. */
const doubleName = /\/(?:(?:fake|simulated)-[^/]*|memory-[^/]*-(?:store|disk)|[^/]*-(?:kit|suite|arbitrary|arbitraries))\.ts$/;

const isTest = (path: string): boolean => path.endsWith('.test.ts') || path.includes('/testing/');

test('doubles and kits are in testing folders, and no program imports them', () => {
  const misplaced = sources.filter(({ path }) => !isTest(path) && doubleName.test(path));
  const imported = sources
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, imports }) => imports.filter((target) => target.includes('/testing/')).map((target) => `${path} imports ${target}`));
  assert.deepEqual([...misplaced.map(({ path }) => path), ...imported], []);
});

const gatewaySources = sources.filter(({ path }) => path.startsWith('src/gateway/') && !isTest(path));
const place = (path: string): { readonly layer: string; readonly endpoint: string | undefined } => {
  const [, , layer = '', endpoint = '', ...rest] = path.split('/');
  return { layer, endpoint: layer === 'endpoints' && rest.length > 0 ? endpoint : undefined };
};

test('the folders of the gateway match its layer table, and imports follow it', () => {
  const folders = readdirSync(join(root, 'src/gateway'));
  assert.deepEqual(folders.toSorted(), Object.keys(gatewayLayers).toSorted());
  const wrong = gatewaySources.flatMap(({ path, imports }) => {
    const { layer } = place(path);
    const allowed = [layer, ...(gatewayLayers[layer] ?? [])];
    return imports
      .filter((target) => target.startsWith('src/gateway/') && !allowed.includes(place(target).layer))
      .map((target) => `${path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test('an endpoint imports no other, and not their assembly', () => {
  const wrong = gatewaySources.flatMap(({ path, imports }) => {
    const { endpoint } = place(path);
    if (endpoint === undefined) return [];
    return imports
      .filter((target) => target.startsWith('src/gateway/endpoints/') && ![endpoint, 'shared'].includes(place(target).endpoint ?? ''))
      .map((target) => `${path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

/**
 * Places that may name an interface other than a chat: its endpoint, its dialect, the upstreams, the tables of the
 * lowest layer, and the doctor, which has checks of its own. Migrations never change.
 */
const namesInterfaces = /^src\/(?:main\/doctor|gateway\/endpoints\/[^/]+|dialects|upstreams|inference|store\/migrations)\//;

test('an endpoint is its folder and its lines in the tables: no list elsewhere names its interface', () => {
  const wrong = sources
    .filter(({ path }) => !isTest(path) && !namesInterfaces.test(path))
    .flatMap(({ path, text }) =>
      Object.keys(interfaces)
        .filter((name) => text.includes(`'${name}'`))
        .map((name) => `${path} names ${name}`),
    );
  assert.deepEqual(wrong, []);
});

test('no files import each other in a circle, types included', () => {
  const files = ['src', 'simulator/src', 'console/src', 'conformance', 'checks', 'bench'].flatMap(readSourceFiles);
  assert.deepEqual(findCircles(new Map(files.map(({ path, imports }) => [path, imports]))), []);
});

test('no amount of the console becomes a number: its digits would be lost', () => {
  const conversions = /\b(?:Number|parseFloat|parseInt)\((?:[^()<>]|\([^()]*\))*\)/g;
  for (const { path, text } of readSourceFiles('console/src'))
    for (const [found] of text.matchAll(conversions)) assert.doesNotMatch(found, /nano|usd/i, path);
});
