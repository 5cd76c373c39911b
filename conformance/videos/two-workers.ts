import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

import { startConversationsProgram } from '../conversations/start-conversations-bench.ts';
import { call, eventually, post } from '../support/http.ts';
import { workerPids } from '../support/worker-pids.ts';
import { auditTasks, type MadeVideo } from './task-books.ts';

// As long as the lease of a killed worker, and a margin.
const recoveredWithinMs = 120_000;
const videosCount = 24;

type Told = { readonly task: string; readonly type: string; readonly event: string; readonly webhookId: string };

/** Whether a process is writing a file that it copies (Linux). */
function isCopying(pid: number): boolean {
  const isUnfinished = (descriptor: string): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`).includes('/media/unfinished/');
    } catch {
      // It was closed meanwhile.
      return false;
    }
  };
  return readdirSync(`/proc/${pid}/fd`).some(isUnfinished);
}

async function startReceiver(): Promise<{ readonly url: string; readonly told: Told[]; readonly close: () => void }> {
  const told: Told[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const event = JSON.parse(body) as { id: string; type: string; data: { id: string } };
      told.push({ task: event.data.id, type: event.type, event: event.id, webhookId: String(request.headers['webhook-id']) });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const close = (): void => {
    receiver.closeAllConnections();
    receiver.close();
  };
  return { url: `http://127.0.0.1:${port}/hook`, told, close };
}

/** Two processes manage the same videos and one is killed while it copies: the other continues its work. */
export async function killOneOfTwo(context: TestContext): Promise<void> {
  const receiver = await startReceiver();
  context.after(receiver.close);
  await using bench = await startConversationsProgram({
    weir: { command: 'gateway', commandArguments: ['--workers', '2'] },
    config: { callbacks: { privateAddresses: true } },
    models: { 'vendor-imagine-video': { targets: [{ upstream: 'xai', model: 'grok-imagine-video' }] } },
  });
  const { gatewayUrl, apiKey, dataDirectory } = bench.weir;
  const headers = { authorization: `Bearer ${apiKey}` };
  const ask = (path: string) => call(`${gatewayUrl}/v1${path}`, { headers });
  // When the worker dies, some videos are at their upstream, some are being copied, and some have ended.
  const scripts = ['ms=200', 'ms=8000', 'ms=200;content=slow;content-rate=6000', 'ms=200;end=failed'];
  const created: MadeVideo[] = await Promise.all(
    Array.from({ length: videosCount }, async (_, index) => {
      const prompt = `video ${index}`;
      const body = { model: 'vendor-imagine-video', prompt, duration: 1, callback_url: receiver.url };
      const script = scripts[index % scripts.length] ?? '';
      const { status, json, text } = await post(`${gatewayUrl}/v1/video/generations`, body, { ...headers, 'x-simulator-video': script });
      assert.equal(status, 200, text);
      return { id: json.id as string, prompt };
    }),
  );
  await eventually(
    () => receiver.told.length,
    (count) => count >= videosCount / 6,
    60_000,
  );
  const workers = workerPids(bench.weir.process.pid ?? 0);
  assert.equal(workers.length, 2);
  const victim = await eventually(
    () => workers.find(isCopying),
    (pid) => pid !== undefined,
  );
  process.kill(victim ?? 0, 'SIGKILL');
  const killedAt = performance.now();
  const isOver = ({ status }: { readonly status: string }): boolean => status === 'completed' || status === 'failed';
  await eventually(
    async () => (await ask('/videos?limit=100').catch(() => undefined))?.json?.data as { status: string }[] | undefined,
    (tasks) => tasks?.length === videosCount && tasks.every(isOver),
    recoveredWithinMs,
  );
  const seconds = ((performance.now() - killedAt) / 1000).toFixed(1);
  await eventually(
    () => new Set(receiver.told.map(({ task }) => task)).size,
    (count) => count === videosCount,
    recoveredWithinMs,
  );
  const { problems, counts } = await auditTasks({ simulator: bench.simulator, dataDirectory, ask }, created);
  // Copies of the dead worker remain for the sweep, which has its own test: partial, or complete without a record.
  assert.deepEqual(
    problems.filter((problem) => !/never finished|^(?:19|2\d) files for 18 /.test(problem)),
    [],
  );
  const eventsOf = (task: string) =>
    new Set(receiver.told.filter((one) => one.task === task).map(({ event, webhookId, type }) => `${event} ${webhookId} ${type}`));
  for (const { id, prompt } of created) assert.equal(eventsOf(id).size, 1, `${prompt} has one event, however often it is delivered`);
  const polls = bench.simulator.videos().map((job) => Number(job['polls']));
  assert.ok(receiver.told.length - videosCount <= videosCount / 2, "only the dead worker's unfinished deliveries are repeated");
  context.diagnostic(
    `${JSON.stringify(counts)}; callbacks ${receiver.told.length} for ${videosCount} events; polls ${polls.reduce((sum, one) => sum + one, 0)}, at most ${Math.max(...polls)} of one; over ${seconds} s after the kill`,
  );
}
