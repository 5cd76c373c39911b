import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { type ConfigLayer, type LayerDocument, LayerError } from '../../control/layers/config-layer.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLiveSettings, type LiveSettings, type LiveSettingsOptions } from './live-settings.ts';

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const upstream = (port: number) => ({ vendor: 'openai-compatible', baseUrl: `http://127.0.0.1:${port}/v1`, discoverModels: false });
const target = (name: string) => ({ targets: [{ upstream: name }] });
const layer = (number: number, document: LayerDocument): ConfigLayer => ({
  number,
  publishedAtMs: 5,
  actor: 'person:ann',
  document: JSON.stringify(document),
  secrets: '{}',
  seal: String(number),
});
/** In these tests a layer without a seal is one of another key. */
const open = ({ document, seal }: ConfigLayer): LayerDocument => {
  if (seal === '') throw new LayerError('foreign', 'sealed with another key');
  return JSON.parse(document) as LayerDocument;
};

type Open = { readonly file?: object; readonly newest?: ConfigLayer; readonly kept?: ConfigLayer; readonly byDefault?: boolean };

/** Live settings of a file and a layer that tests change. */
function start(
  { file = { upstreams: { own: upstream(1) } }, newest, kept, byDefault = true }: Open,
  more: Partial<LiveSettingsOptions> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-layers-'));
  folders.push(folder);
  const path = join(folder, 'weir.yaml');
  const write = (content: object | string): void => writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  write(file);
  const state = { newest, logged: [] as string[], inForce: [] as (number | undefined)[] };
  const log = (fields: { readonly reason?: string }, message: string): void => void state.logged.push(`${message}: ${fields.reason ?? ''}`);
  const live = createLiveSettings({
    path,
    variable: () => undefined,
    simulated: undefined,
    clock: systemClock,
    logger: { info: () => {}, debug: () => {}, warn: () => {}, error: log } as never,
    pollMs: 86_400_000,
    layers: { byDefault, newest: () => state.newest, kept, open },
    onInForce: (files) => void state.inForce.push(files.layer?.number),
    ...more,
  });
  return { live, state, write, [Symbol.asyncDispose]: () => live.close() };
}

const upstreamsOf = (live: LiveSettings): readonly string[] => live.settings().routing.upstreams.map(({ id }) => id);
const originOf = (live: LiveSettings, model: string): string | undefined => live.settings().routing.targetsOf(model)[0]?.upstream.origin;

test('a layer adds upstreams and models; they are in force after its publication, and gone without it', async () => {
  await using started = start({});
  const { live, state } = started;
  assert.deepEqual([upstreamsOf(live), live.layer()], [['own'], { isTaken: true, newest: 0, hidden: [] }]);
  assert.equal(live.look(), false);
  state.newest = layer(1, { upstreams: { added: upstream(2) }, models: { m: target('added'), n: target('own') } });
  assert.equal(live.look(), true);
  assert.deepEqual(
    [upstreamsOf(live), originOf(live, 'm'), originOf(live, 'n')],
    [['own', 'added'], 'http://127.0.0.1:2', 'http://127.0.0.1:1'],
  );
  assert.deepEqual([live.layer().number, live.source().type, live.source().fromLayer], [1, 'file', ['added']]);
  assert.equal(live.look(), false);
  state.newest = undefined;
  live.look();
  assert.deepEqual([upstreamsOf(live), originOf(live, 'm'), live.layer().number], [['own'], undefined, undefined]);
  assert.deepEqual(state.inForce, [undefined, 1, undefined]);
});

test('the file comes first, name by name, and what it hides is named', async () => {
  const file = { upstreams: { own: upstream(1) }, models: { m: target('own') }, limits: { perKey: { concurrency: 3 } } };
  const newest = layer(1, {
    upstreams: { own: upstream(2), added: upstream(2) },
    models: { m: target('added'), n: target('added') },
    limits: { perKey: { concurrency: 9, requestsPerMinute: 7 } },
  });
  await using started = start({ file, newest });
  const { live } = started;
  assert.deepEqual([originOf(live, 'm'), originOf(live, 'n')], ['http://127.0.0.1:1', 'http://127.0.0.1:2']);
  assert.deepEqual(live.settings().perKey, { concurrency: 3, requestsPerMinute: 7 });
  assert.deepEqual(live.layer().hidden.toSorted(), ['limits.perKey.concurrency', 'models.m', 'upstreams.own']);
});

test('a layer that cannot be used is logged once, and the last good one stays; a file that makes it usable is enough', async () => {
  const good = layer(1, { models: { m: target('own') } });
  await using started = start({ newest: good });
  const { live, state, write } = started;
  const bad = layer(2, { models: { m: target('elsewhere') } });
  state.newest = bad;
  assert.equal(live.look(), false);
  live.look();
  assert.deepEqual(state.logged.length, 1);
  assert.match(state.logged[0] ?? '', /configuration layer refused: layer 2 cannot be used here: models\.m\.targets\.0\.upstream/);
  const { number, newest, problem } = live.layer();
  assert.deepEqual([number, newest, live.problem()], [1, 2, undefined]);
  assert.match(problem ?? '', /elsewhere/);
  // A change of the file comes into force all the same.
  write({ upstreams: { own: upstream(3) } });
  assert.equal(live.look(), true);
  assert.deepEqual([originOf(live, 'm'), live.layer().number], ['http://127.0.0.1:3', 1]);
  write({ upstreams: { own: upstream(3), elsewhere: upstream(4) } });
  live.look();
  assert.deepEqual([originOf(live, 'm'), live.layer().number, live.layer().problem], ['http://127.0.0.1:4', 2, undefined]);
  state.newest = { ...good, seal: '' };
  live.look();
  assert.match(live.layer().problem ?? '', /another key/);
  state.newest = bad;
  live.look();
  assert.equal(live.layer().problem, undefined);
});

test('an invalid file stays a problem of the file', async () => {
  await using started = start({ newest: layer(1, { models: { m: target('own') } }) });
  const { live, state, write } = started;
  write('upstreams: 5');
  live.look();
  state.newest = layer(2, { models: { n: target('own') } });
  live.look();
  assert.match(live.problem() ?? '', /weir\.yaml:1/);
  assert.deepEqual([live.layer().number, live.layer().problem], [1, undefined]);
});

test('a start with a layer that cannot be used has the one of the last run, or none', async () => {
  const bad = layer(3, { models: { m: target('elsewhere') } });
  const kept = layer(2, { models: { kept: target('own') } });
  await using first = start({ newest: bad, kept });
  assert.deepEqual([first.live.layer().number, originOf(first.live, 'kept')], [2, 'http://127.0.0.1:1']);
  assert.match(first.live.layer().problem ?? '', /layer 3/);
  await using second = start({ newest: bad });
  assert.deepEqual([second.live.layer().number, upstreamsOf(second.live)], [undefined, ['own']]);
  assert.throws(() => start({ file: { upstreams: { own: { vendor: 'nobody' } } }, newest: kept }), /vendor/);
});

test('the file of a gateway decides whether it takes layers, while it runs too', async () => {
  const newest = layer(1, { upstreams: { added: upstream(2) } });
  const own = { upstreams: { own: upstream(1) } };
  await using started = start({ file: own, newest, byDefault: false });
  const { live, write } = started;
  assert.deepEqual([upstreamsOf(live), live.layer().isTaken, live.layer().number], [['own'], false, undefined]);
  write({ ...own, console: { editConfig: true } });
  live.look();
  assert.deepEqual([upstreamsOf(live), live.layer().isTaken, live.layer().number], [['own', 'added'], true, 1]);
  write({ ...own, console: { editConfig: false } });
  live.look();
  assert.deepEqual(upstreamsOf(live), ['own']);
});

test('upstreams of a layer replace the simulated vendors, and join those of the environment', async () => {
  const newest = layer(1, { upstreams: { added: upstream(2) }, models: { m: target('added') } });
  const simulated = { 'simulated-openai': { vendor: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'x' } } as const;
  await using first = start({ file: {}, newest }, { simulated });
  assert.deepEqual([upstreamsOf(first.live), first.live.source().type], [['added'], 'layer']);
  first.state.newest = layer(2, { models: { m: target('simulated-openai') } });
  first.live.look();
  assert.deepEqual([upstreamsOf(first.live), originOf(first.live, 'm')], [['simulated-openai'], 'http://127.0.0.1:9']);
  await using second = start({ file: {}, newest }, { simulated, variable: (name) => (name === 'OPENAI_API_KEY' ? 'sk-1' : undefined) });
  assert.deepEqual([upstreamsOf(second.live), second.live.source().type], [['openai', 'added'], 'environment']);
});
