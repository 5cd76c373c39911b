import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { Offer, Offered } from '../overload/offer-load.ts';
import { call, post } from '../support/http.ts';
import { watchedNodeArguments } from '../support/loop-watch.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import type { Percentiles } from './percentiles.ts';

/** The poll statistics of the upstream since the last request. */
type Polls = { readonly jobs: number; readonly polls: number; readonly gapMs: Percentiles };

/** A Weir whose upstreams use little processor time, each in a process of its own. */
export type MediaLoad = {
  readonly weir: RunningWeir;
  /** The store of the gateway, read from outside. */
  readonly store: Store;
  /** Orders this many videos, some at a time; resolves with their ids. */
  readonly submit: (count: number, prompt: string) => Promise<readonly string[]>;
  readonly polls: () => Promise<Polls>;
  /** From now on every job is finished. */
  readonly finish: () => Promise<void>;
  /** Makes chat calls at their rate; resolves with their results. */
  readonly chat: (perSecond: number, seconds: number) => Promise<Offered>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const repository = join(import.meta.dirname, '../..');
const readyWithinMs = 60_000;
const submissionsAtOnce = 20;

/** Binds a process and all of its threads to one processor; processes that it starts stay there too. */
export function pin(pid: number | undefined, core: string): void {
  const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', core, String(pid)], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot bind a process to processor ${core}: ${stderr}`);
}

/** Starts a program that prints its port. */
export function startProgram(
  file: string,
  parameters: readonly string[] = [],
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = spawn(process.execPath, [file, ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${file} was not ready in time`));
    }, readyWithinMs);
    child.stdout.once('data', (printed: Buffer) => {
      clearTimeout(timer);
      resolve({ child, port: Number(printed.toString()) });
    });
  });
}

function offerChat(offer: Offer): Promise<Offered> {
  const child = spawn(process.execPath, [join(repository, 'conformance/overload/offer-load.ts'), JSON.stringify(offer)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(printed) as Offered);
      else reject(new Error(`the load ended with ${String(code)}: ${printed}`));
    });
  });
}

const configOf = (videos: number, chat: number) => ({
  upstreams: {
    videos: {
      vendor: 'openai-compatible',
      baseUrl: `http://127.0.0.1:${videos}/v1`,
      apiKey: 'upstream-key',
      quirks: { videos: 'video-generations' },
    },
    chat: { vendor: 'openai-compatible', baseUrl: `http://127.0.0.1:${chat}/v1`, apiKey: 'upstream-key' },
  },
  models: {
    'bench-video': {
      targets: [{ upstream: 'videos', model: 'vendor-imagine-video' }],
      price: { videoSecond: { '480p': '0.05' } },
    },
    'bench-model': { targets: [{ upstream: 'chat' }], price: { input: '1', output: '3' } },
  },
});

/** @param core the processor of the gateway; absent if it may run on any */
export async function startMediaLoad({ core }: { readonly core?: string } = {}): Promise<MediaLoad> {
  await using opening = new AsyncDisposableStack();
  const upstream = await startProgram(join(repository, 'bench/video-upstream.ts'));
  opening.defer(() => void upstream.child.kill('SIGKILL'));
  const chatUpstream = await startProgram(join(repository, 'bench/upstream.ts'));
  opening.defer(() => void chatUpstream.child.kill('SIGKILL'));
  const config = JSON.stringify(configOf(upstream.port, chatUpstream.port));
  const weir = opening.use(await startWeir({ config, command: 'gateway', nodeArguments: watchedNodeArguments }));
  if (core !== undefined) pin(weir.process.pid, core);
  const store = await openSqliteStore({ path: join(weir.dataDirectory, 'weir.sqlite'), readOnly: true });
  opening.defer(() => store.close());
  const opened = opening.move();
  const authorization = `Bearer ${weir.apiKey}`;
  const submitOne = async (prompt: string): Promise<string> => {
    const { status, json, text } = await post(
      `${weir.gatewayUrl}/v1/video/generations`,
      { model: 'bench-video', prompt, duration: 5 },
      { authorization },
    );
    if (status !== 200) throw new Error(`${status} ${text}`);
    return json.id;
  };
  return {
    weir,
    store,
    submit: async (count, prompt) => {
      const ids: string[] = [];
      for (let left = count; left > 0; left -= submissionsAtOnce) {
        const some = Array.from({ length: Math.min(left, submissionsAtOnce) }, () => submitOne(prompt));
        ids.push(...(await Promise.all(some)));
      }
      return ids;
    },
    polls: async () => (await call(`http://127.0.0.1:${upstream.port}/polls`)).json,
    finish: async () => void (await call(`http://127.0.0.1:${upstream.port}/finish`)),
    chat: (perSecond, seconds) =>
      offerChat({
        port: Number(new URL(weir.gatewayUrl).port),
        apiKey: weir.apiKey,
        perSecond,
        connections: 500,
        seconds,
        warmUpSeconds: 0,
        deadlineMs: 10_000,
        bodyBytes: 1500,
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
