import { setTimeout as sleep } from 'node:timers/promises';

import { eventually } from '../support/http.ts';
import { readLoop } from '../support/loop-watch.ts';
import { residentBytes } from '../support/process-memory.ts';
import { download, follow, watchMemory } from './clients.ts';
import { percentilesOf } from './percentiles.ts';
import type { MediaLoad } from './start-media-load.ts';

const secondMs = 1000;
const portOf = ({ weir }: MediaLoad): number => Number(new URL(weir.gatewayUrl).port);

/** Open tasks for a while, and chat calls at the same time. */
export async function pollFor(load: MediaLoad, seconds: number, chatPerSecond: number) {
  await load.polls();
  await readLoop(load.weir);
  const latenessMs: number[] = [];
  const endMs = performance.now() + seconds * secondMs;
  const chatting = load.chat(chatPerSecond, seconds);
  while (performance.now() < endMs) {
    latenessMs.push((await load.store.countTasks(Date.now())).latenessMs);
    await sleep(100);
  }
  const { polls, gapMs } = await load.polls();
  const loop = await readLoop(load.weir);
  return { polls, gapMs, latenessMs: percentilesOf(latenessMs), loop, chat: await chatting };
}

/** The same file for many clients at once, and chat calls at the same time. */
export async function downloadTogether(
  load: MediaLoad,
  { id, clients, seconds }: { readonly id: string; readonly clients: number; readonly seconds: number },
) {
  const { weir } = load;
  await readLoop(weir);
  const memory = watchMemory(weir);
  const chatting = load.chat(20, seconds);
  const startedMs = performance.now();
  const address = { port: portOf(load), path: `/v1/videos/${id}/content`, apiKey: weir.apiKey };
  const downloads = await Promise.all(Array.from({ length: clients }, () => download(address)));
  const ms = performance.now() - startedMs;
  const { startBytes, peakBytes } = memory.stop();
  const loop = await readLoop(weir);
  const chat = await chatting;
  const afterBytes = residentBytes(weir.process.pid) ?? 0;
  return {
    lengths: new Set(downloads.map(({ bytes }) => bytes)),
    bytes: downloads.reduce((sum, { bytes }) => sum + bytes, 0),
    ms,
    startBytes,
    peakBytes,
    afterBytes,
    loop,
    chat,
  };
}

/** Follows the events of some tasks to their end; `ready` resolves when every client has received its task's state. */
export function watchTasks(load: MediaLoad, ids: readonly string[]) {
  const ready = Promise.withResolvers<void>();
  let first = 0;
  const onFirst = (): void => {
    first += 1;
    if (first === ids.length) ready.resolve();
  };
  const address = { port: portOf(load), apiKey: load.weir.apiKey };
  const ended = Promise.all(ids.map((id) => follow({ ...address, path: `/v1/videos/${id}/events` }, onFirst)));
  return { ready: ready.promise, ended };
}

/** All open jobs finish at the same moment: measures how long it takes until each has its file and its charge. */
export async function completeTogether(load: MediaLoad, limitMs: number) {
  const { weir, store } = load;
  await readLoop(weir);
  const memory = watchMemory(weir);
  const startedMs = performance.now();
  await load.finish();
  const left = await eventually(
    async () => (await store.countTasks(Date.now())).open,
    (open) => open === 0,
    limitMs,
  );
  const ms = performance.now() - startedMs;
  return { left, ms, ...memory.stop(), loop: await readLoop(weir) };
}
