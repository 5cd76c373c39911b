import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { createAccounts } from '../../src/accounts/create-accounts.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { call, eventually } from '../support/http.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import type { Offer, Offered } from './offer-load.ts';
import { testAuthor } from '../../src/audit/testing/test-change.ts';

/** A gateway under load: gateway, upstream and every load in a process of its own. */
export type OverloadBench = {
  readonly weir: RunningWeir;
  /** Runs a load to its end. */
  readonly offer: (what: Partial<Offer>) => Promise<Offered>;
  /** Makes a key of a user of its own. */
  readonly createKey: (userName: string) => Promise<string>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const repository = join(import.meta.dirname, '../..');
const readyWithinMs = 60_000;

/** Starts the upstream, whose replies use little processor time. */
function startUpstream(): Promise<{ readonly port: number; readonly stop: () => void }> {
  const child = spawn(process.execPath, [join(repository, 'bench/upstream.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error('the upstream was not ready in time'));
    }, readyWithinMs);
    child.stdout.once('data', (printed: Buffer) => {
      clearTimeout(timer);
      resolve({ port: Number(printed.toString()), stop: () => child.kill('SIGKILL') });
    });
  });
}

function runLoad(offer: Offer): Promise<Offered> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'offer-load.ts'), JSON.stringify(offer)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), (offer.seconds + 20) * 1000);
    child.once('close', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(JSON.parse(printed) as Offered);
      else reject(new Error(`the load ended with ${String(code)}: ${printed}`));
    });
  });
}

/** @param overload `overload` of weir.yaml */
export async function startOverloadBench(overload: Readonly<Record<string, number>> = {}): Promise<OverloadBench> {
  const upstream = await startUpstream();
  const config = {
    overload,
    upstreams: { bench: { vendor: 'openai-compatible', baseUrl: `http://127.0.0.1:${upstream.port}/v1`, apiKey: 'upstream-key' } },
    models: { 'bench-model': { targets: [{ upstream: 'bench' }], price: { input: '1', output: '3' } } },
  };
  const weir = await startWeir({ config: JSON.stringify(config) }).catch((error: unknown) => {
    upstream.stop();
    throw error;
  });
  const store = await openSqliteStore({ path: join(weir.dataDirectory, 'weir.sqlite') });
  const accounts = createAccounts({ store, clock: systemClock, random: randomBytes, author: testAuthor });
  const port = Number(new URL(weir.gatewayUrl).port);
  return {
    weir,
    offer: (what) =>
      runLoad({ port, apiKey: weir.apiKey, connections: 1000, seconds: 3, warmUpSeconds: 1, deadlineMs: 2000, bodyBytes: 1500, ...what }),
    createKey: async (userName) => {
      const { secret } = await accounts.createApiKey({ userName, name: 'key', strictTranslation: false, limits: {} });
      await eventually(
        async () => (await call(`${weir.gatewayUrl}/v1/models`, { headers: { 'x-api-key': secret } })).status,
        (status) => status === 200,
      );
      return secret;
    },
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await weir[Symbol.asyncDispose]();
      upstream.stop();
    },
  };
}
