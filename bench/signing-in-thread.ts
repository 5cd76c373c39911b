import { createFakeUpstream } from '../src/gateway/attempts/exchange/testing/fake-exchange.ts';
import { splitCredentials } from '../src/main/config/credentials.ts';
import { systemClock } from '../src/platform/clock.ts';
import type { UpstreamClient, UpstreamHandler, UpstreamRequest } from '../src/platform/http/upstream-client.ts';
import { bedrock } from '../src/upstreams/bedrock/bedrock.ts';
import type { CloudCredential } from '../src/upstreams/credentials/cloud-credential.ts';
import { refreshCredentials } from '../src/upstreams/credentials/refresh-credentials.ts';
import { smallCall, works } from './works.ts';

/**
 * What a signature adds to a call in the thread that serves it, in microseconds, as JSON. Two clients send the same
 * request in turn, one with access keys and one with an API key. The transport answers at once.
 */
const calls = 10_000;
const rounds = 9;
const controller = { abort: () => {}, pause: () => {}, resume: () => {} };
const transport: UpstreamClient = {
  send: (_request, handler) => {
    handler.onRequestStart(controller);
    handler.onResponseStart(controller, 200, {});
    handler.onResponseEnd(controller);
  },
  close: () => Promise.resolve(),
};
const handler: UpstreamHandler = {
  onRequestStart: () => {},
  onResponseStart: () => {},
  onResponseData: () => {},
  onResponseEnd: () => {},
  onResponseError: (error) => {
    throw new Error('the transport of this measurement does not fail', { cause: error });
  },
};
const keys = { kind: 'aws-keys', accessKeyId: 'ASIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret', sessionToken: 'F'.repeat(700) } as const;
const credential = refreshCredentials<CloudCredential>({
  clock: systemClock,
  fetch: () => Promise.resolve({ credential: keys, expiresAtMs: systemClock.nowMs() + 3_600_000 }),
});
await credential.current(new AbortController().signal);
const account = { ...createFakeUpstream({}, transport), vendor: bedrock, origin: 'http://127.0.0.1:80', facts: { region: 'us-east-1' } };
const [keyed] = splitCredentials(account, [{ apiKey: 'bedrock-key-of-the-bench' }], 1000);
const [signed] = splitCredentials({ ...account, credential }, [], 1000);

function microsOf({ client }: { readonly client: UpstreamClient }, request: UpstreamRequest): number {
  // The processor time of this thread: other load does not make it longer.
  const before = process.threadCpuUsage();
  for (let call = 0; call < calls; call += 1) client.send(request, handler);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / calls;
}

const results = [smallCall, ...works.filter(({ title }) => title === '50 KB call')].map(({ title, body }) => {
  const headers = { 'content-type': 'application/json', accept: 'application/json', authorization: 'Bearer bedrock-key-of-the-bench' };
  const request = { path: '/openai/v1/chat/completions', method: 'POST', headers, body: Buffer.from(body) } as const;
  const added: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const withKey = microsOf(keyed, request);
    added.push(microsOf(signed, request) - withKey);
  }
  return { title, micros: added.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN };
});
console.log(JSON.stringify(results));
