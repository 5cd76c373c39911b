import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createCallRecords, type CallRecord } from './call-records.ts';
import { queueFault } from './settings.ts';
import { createSimulatorState, type SimulatorState } from './simulator-state.ts';
import { createVendorServer } from './vendor-server.ts';
import { anthropic } from './vendors/anthropic/anthropic.ts';
import { openai } from './vendors/openai/openai.ts';

/** The view of a peer on a bare socket: every byte, and how the connection ended. */
type Seen = { readonly bytes: Buffer; readonly head: string; readonly body: string; readonly ending: 'fin' | 'reset' | 'open' };

let state: SimulatorState;
let servers: { anthropic: Server; openai: Server };

before(async () => {
  state = createSimulatorState({
    seed: 'faults',
    clock: { nowMs: () => Date.UTC(2026, 10, 20) },
    records: createCallRecords(),
    pace: { tokensPerSecond: 0, firstTokenMs: 0, tokensPerFrame: 4, chunkBytes: 0 },
  });
  servers = { anthropic: createVendorServer(state, anthropic), openai: createVendorServer(state, openai) };
  for (const server of Object.values(servers)) await once(server.listen(0, '127.0.0.1'), 'listening');
});

after(() => {
  for (const server of Object.values(servers)) {
    server.close();
    server.closeAllConnections();
  }
});

type Ask = {
  readonly stream?: boolean;
  readonly text?: string;
  /** Disconnects this many milliseconds after the call was seen and `leaveOnce` has arrived. */
  readonly leaveAfterMs?: number;
  readonly leaveOnce?: RegExp;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends a request with a fault and reads until the connection ends, or until it is time to disconnect. */
async function see(fault: string | undefined, ask: Ask = {}): Promise<Seen> {
  const body = JSON.stringify({
    model: 'claude-test',
    max_tokens: 500,
    stream: ask.stream ?? true,
    messages: [{ role: 'user', content: ask.text ?? 'Hello' }],
  });
  return await exchange(
    servers.anthropic,
    '/v1/messages',
    body,
    {
      'x-api-key': 'sk-canary-key',
      'anthropic-version': '2023-06-01',
      ...(fault !== undefined && { 'x-simulator-fault': fault }),
      ...ask.headers,
    },
    ask,
  );
}

async function exchange(
  server: Server,
  path: string,
  body: string,
  headers: Record<string, string>,
  { leaveAfterMs, leaveOnce = /^/ }: Pick<Ask, 'leaveAfterMs' | 'leaveOnce'> = {},
): Promise<Seen> {
  const before = state.records.list().at(-1);
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const chunks: Buffer[] = [];
  let ending: Seen['ending'] = 'open';
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('end', () => (ending = 'fin'));
  socket.on('error', () => (ending = 'reset'));
  const all = {
    host: 'simulator',
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  const closed = once(socket, 'close').catch(() => undefined);
  if (leaveAfterMs !== undefined) {
    const isTime = (): boolean => state.records.list().at(-1) !== before && leaveOnce.test(Buffer.concat(chunks).toString());
    for (let tries = 0; !isTime() && tries < 6000; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
    setTimeout(() => socket.destroy(), leaveAfterMs);
  }
  await closed;
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  const split = text.indexOf('\r\n\r\n');
  const head = split < 0 ? '' : text.slice(0, split);
  const rest = bytes.subarray(split < 0 ? 0 : Buffer.byteLength(text.slice(0, split)) + 4);
  return { bytes, head, body: /transfer-encoding: chunked/i.test(head) ? joinChunks(rest).toString() : rest.toString(), ending };
}

/** The chunks of a chunked body with their framing; the terminating empty chunk is the empty last entry. */
function readChunks(raw: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  while (at < raw.length) {
    const lineEnd = raw.indexOf('\r\n', at);
    if (lineEnd < 0) break;
    const size = Number.parseInt(raw.subarray(at, lineEnd).toString(), 16);
    chunks.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 4 + size;
  }
  return chunks;
}

function joinChunks(raw: Buffer): Buffer {
  return Buffer.concat(readChunks(raw));
}

function bodyBytes(seen: Seen): Buffer {
  return seen.bytes.subarray(seen.bytes.indexOf('\r\n\r\n') + 4);
}

/** The record of the last call, once its end is recorded. */
async function lastCall(): Promise<CallRecord> {
  const call = state.records.list().at(-1);
  assert.ok(call !== undefined);
  for (let tries = 0; call.ending === 'open' && tries < 6000; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
  return call;
}

const isTerminated = (seen: Seen): boolean => seen.bytes.toString().endsWith('0\r\n\r\n');
const contentFrames = (seen: Seen): number => seen.body.split('"text_delta"').length - 1;

test('without a fault the stream is complete and recorded as completed', async () => {
  const seen = await see(undefined);
  assert.ok(isTerminated(seen) && seen.body.trimEnd().endsWith('data: {"type":"message_stop"}'));
  const call = await lastCall();
  assert.equal(call.ending, 'completed');
  assert.equal(call.emittedTokens, call.plannedUsage?.outputTokens);
  assert.equal(call.reportedUsage?.['output_tokens'], call.plannedUsage?.outputTokens);
});

for (const stream of [true, false]) {
  test(`status, stream ${stream}: the vendor's own body is sent with the retry headers`, async () => {
    const seen = await see('status;status=529;retry-after=2;x-should-retry=false', { stream });
    assert.match(seen.head, /^HTTP\/1\.1 529 /);
    assert.match(seen.head, /retry-after: 2/);
    assert.match(seen.head, /x-should-retry: false/);
    assert.match(seen.body, /"type":"overloaded_error","message":"Overloaded"/);
    const call = await lastCall();
    assert.equal(call.ending, 'faulted');
    assert.equal(call.plannedUsage, undefined);
  });

  test(`refuse and reset-before-headers, stream ${stream}: a reset is sent without a byte`, async () => {
    for (const fault of ['refuse', 'reset-before-headers']) {
      const seen = await see(fault, { stream });
      assert.deepEqual([seen.bytes.length, seen.ending], [0, 'reset']);
    }
    assert.equal((await lastCall()).status, undefined);
  });

  test(`stall-before-headers, stream ${stream}: nothing is sent until the client disconnects, which is noticed`, async () => {
    const seen = await see('stall-before-headers', { stream, leaveAfterMs: 300 });
    assert.equal(seen.bytes.length, 0);
    const call = await lastCall();
    assert.deepEqual([call.ending, call.fault, call.status], ['client-closed', 'stall-before-headers', undefined]);
  });

  test(`stall-before-headers with ms, stream ${stream}: the reply is late and complete`, async () => {
    const seen = await see('stall-before-headers;ms=20', { stream });
    assert.match(seen.body, /message/);
    assert.equal(seen.ending, 'fin');
  });

  test(`stall-after-headers, stream ${stream}: only headers are sent`, async () => {
    const seen = await see('stall-after-headers', { stream, leaveAfterMs: 300, leaveOnce: /\r\n\r\n/ });
    assert.match(seen.head, /^HTTP\/1\.1 200 /);
    // A whole reply promises its length, otherwise it would end here.
    if (!stream) assert.match(seen.head, /content-length: [1-9]/i);
    assert.equal(seen.body, '');
    assert.equal((await lastCall()).ending, 'client-closed');
  });
}

test('error-in-200: an error body is sent with status 200', async () => {
  const seen = await see('error-in-200');
  assert.match(seen.head, /^HTTP\/1\.1 200 /);
  assert.match(seen.body, /"type":"error","error":\{"type":"api_error"/);
});

test('html, empty-body, redirect and echo-credentials send their special replies', async () => {
  const html = await see('html;status=502');
  assert.match(html.head, /^HTTP\/1\.1 502 [\s\S]*text\/html/);
  assert.match(html.body, /<!doctype html>/);
  assert.equal((await see('empty-body')).body, '');
  assert.match((await see('redirect;location=http://127.0.0.1:9/x')).head, /^HTTP\/1\.1 307 [\s\S]*location: http:\/\/127\.0\.0\.1:9\/x/);
  const echo = await see('echo-credentials');
  assert.match(echo.head, /^HTTP\/1\.1 401 [\s\S]*x-echoed-credential: sk-canary-key/);
  assert.match(echo.body, /sk-canary-key/);
  // The simulator's records never contain the key itself.
  assert.ok(!JSON.stringify(await lastCall()).includes('sk-canary-key'));
});

test('stall-mid-stream: after the given number of content frames nothing is sent', async () => {
  const seen = await see('stall-mid-stream;after=2', { leaveAfterMs: 400, leaveOnce: /text_delta[^]*text_delta/ });
  assert.equal(contentFrames(seen), 2);
  const call = await lastCall();
  assert.deepEqual([call.ending, call.emittedTokens], ['client-closed', 8]);
});

test('stall-mid-stream with after=0: the opening frames are sent, but no content', async () => {
  const seen = await see('stall-mid-stream;after=0', { leaveAfterMs: 400, leaveOnce: /event: ping/ });
  assert.match(seen.body, /event: ping/);
  assert.equal(contentFrames(seen), 0);
});

test('reset-mid-stream: a reset comes between frames, and inside one', async () => {
  const between = await see('reset-mid-stream;after=2');
  assert.deepEqual([contentFrames(between), between.ending], [2, 'reset']);
  assert.ok(between.body.endsWith('\n\n'));
  assert.equal((await lastCall()).emittedTokens, 8);
  const inside = await see('reset-mid-stream;after=2;cut=inside');
  assert.equal(inside.ending, 'reset');
  assert.ok(!inside.body.endsWith('\n\n'));
  const call = await lastCall();
  assert.deepEqual([call.ending, call.emittedTokens], ['faulted', 8]);
});

test('reset-mid-stream of a whole reply: half of the promised length is sent', async () => {
  const seen = await see('reset-mid-stream', { stream: false });
  const promised = Number(/content-length: (\d+)/.exec(seen.head)?.[1]);
  assert.equal(seen.ending, 'reset');
  assert.ok(bodyBytes(seen).length > 0 && bodyBytes(seen).length < promised);
});

test('truncate: the body ends normally in the middle of the reply', async () => {
  const stream = await see('truncate;after=3');
  assert.deepEqual([contentFrames(stream), stream.ending, isTerminated(stream)], [3, 'fin', true]);
  assert.ok(!stream.body.includes('message_stop') && !stream.body.includes('message_delta'));
  const whole = await see('truncate', { stream: false });
  assert.ok(isTerminated(whole));
  assert.throws(() => JSON.parse(whole.body) as unknown);
});

test('truncate how=fin, eof and wrong lengths cut the reply', async () => {
  const fin = await see('truncate;how=fin');
  assert.deepEqual([fin.ending, isTerminated(fin)], ['fin', false]);
  const eof = await see('truncate;how=eof');
  assert.doesNotMatch(eof.head, /transfer-encoding|content-length/i);
  assert.deepEqual([contentFrames(eof), eof.ending], [1, 'fin']);
  for (const stream of [true, false]) {
    const long = await see('truncate;how=long-length', { stream });
    assert.ok(bodyBytes(long).length < Number(/content-length: (\d+)/.exec(long.head)?.[1]));
    const short = await see('truncate;how=short-length', { stream });
    assert.ok(bodyBytes(short).length > Number(/content-length: (\d+)/.exec(short.head)?.[1]));
  }
});

test('sentinel: it is missing, repeated, or followed by data', async () => {
  assert.ok(!(await see('missing-sentinel')).body.includes('"type":"message_stop"'));
  assert.equal((await see('duplicate-sentinel')).body.split('"type":"message_stop"').length - 1, 2);
  const late = (await see('data-after-sentinel')).body;
  assert.ok(late.lastIndexOf('text_delta') > late.indexOf('message_stop'));
});

test('malformed-event: exactly one event does not parse, and the rest continues', async () => {
  const seen = await see('malformed-event;after=1');
  const broken = seen.body.split('\n').filter((line) => line.startsWith('data: ') && !parses(line.slice(6)));
  assert.equal(broken.length, 1);
  assert.ok(seen.body.includes('message_stop'));
  assert.ok(!parses((await see('malformed-event', { stream: false })).body));
});

test('huge-event: one event has the requested size, in a stream and in a whole reply', async () => {
  const seen = await see('huge-event;bytes=300000');
  const longest = Math.max(...seen.body.split('\n').map((line) => line.length));
  assert.ok(longest > 300_000 && longest < 300_200);
  const whole = await see('huge-event;bytes=300000', { stream: false });
  assert.ok(whole.body.length > 300_000);
  assert.equal((JSON.parse(whole.body) as { type: string }).type, 'message');
});

test('slow-drip: a few bytes are sent at a time until the client disconnects', async () => {
  const seen = await see('slow-drip;rate=100', { leaveAfterMs: 150, leaveOnce: /\r\n\r\n./ });
  assert.ok(seen.body.length > 0 && seen.body.length <= 25, `${seen.body.length} bytes`);
  assert.equal((await lastCall()).ending, 'client-closed');
});

test('error-event: the vendor’s event is in the stream, then the body ends normally', async () => {
  const seen = await see('error-event;after=2');
  assert.equal(contentFrames(seen), 2);
  assert.match(seen.body, /event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error"[^\n]*\n\n$/);
  assert.ok(isTerminated(seen));
  assert.match((await see('error-event', { stream: false })).head, /^HTTP\/1\.1 500 /);
});

test('unknown-event and unknown-block: the reply around them is complete', async () => {
  const event = await see('unknown-event;after=0');
  assert.match(event.body, /event: simulated_unknown\ndata: \{"type":"simulated_unknown"/);
  assert.ok(event.body.includes('message_stop'));
  const block = await see('unknown-block');
  assert.match(block.body, /"content_block":\{"type":"simulated_unknown_block"/);
  const whole = JSON.parse((await see('unknown-block', { stream: false })).body) as { content: { type: string }[] };
  assert.deepEqual(
    whole.content.map((item) => item.type),
    ['simulated_unknown_block', 'text'],
  );
});

test('gzip: the reply is compressed although the client did not request it', async () => {
  const seen = await see('gzip');
  assert.match(seen.head, /content-encoding: gzip/);
  assert.match(gunzipSync(joinChunks(bodyBytes(seen))).toString(), /message_stop/);
});

test('many-headers and long-header enlarge the head', async () => {
  assert.equal((await see('many-headers;count=300')).head.split('x-simulator-header-').length - 1, 300);
  assert.ok((await see('long-header;bytes=30000')).head.length > 30_000);
});

test('conflicting-lengths: a length comes with chunks, and two lengths come together', async () => {
  assert.match((await see('conflicting-lengths')).head, /content-length: \d+\r\ntransfer-encoding: chunked/);
  assert.equal((await see('conflicting-lengths;kind=two-lengths')).head.split('content-length').length - 1, 2);
});

test('line-ends: the same events have other line ends, comments, a byte order mark', async () => {
  const plain = (await see(undefined)).body;
  const lines = (body: string): string[] => body.split(/\r\n|\r|\n/).filter((line) => line !== '' && !line.startsWith(':'));
  const events = (body: string): string[] => lines(body.replace(/^\uFEFF/, '')).filter((line) => line.startsWith('data'));
  for (const kind of ['crlf', 'cr', 'lf', 'mixed', 'bom', 'comments', 'no-space']) {
    const seen = await see(`line-ends;kind=${kind}`);
    assert.equal(events(seen.body).length, events(plain).length, kind);
  }
  assert.ok((await see('line-ends;kind=crlf')).body.includes('}\r\n\r\n'));
  assert.ok(!(await see('line-ends;kind=cr')).body.includes('\n'));
  assert.ok((await see('line-ends;kind=bom')).bytes.includes(Buffer.from([0xef, 0xbb, 0xbf])));
  assert.ok((await see('line-ends;kind=no-space')).body.includes('\ndata:{'));
});

test('split-utf8: chunks end inside characters, and together they are the reply', async () => {
  const headers = { 'x-simulator-text': encodeURIComponent('a é 世界 😀') };
  const seen = await see('split-utf8', { headers });
  const chunks = readChunks(bodyBytes(seen)).filter((chunk) => chunk.length > 0);
  const cuts = chunks.filter((chunk) => Buffer.from(chunk.toString()).compare(chunk) !== 0).length;
  assert.ok(cuts >= 4, `${cuts} chunks end inside a character`);
  assert.ok(seen.body.includes('世界'));
});

test('chunkBytes: the byte stream is sent in pieces of exactly that size', async () => {
  const seen = await see(undefined, { headers: { 'x-simulator-pace': 'chunkBytes=7' } });
  const sizes = readChunks(bodyBytes(seen))
    .map((chunk) => chunk.length)
    .filter((size) => size > 0);
  assert.deepEqual(new Set(sizes.slice(0, -1)), new Set([7]));
  assert.ok(seen.body.includes('message_stop'));
});

test('pace: tokens are sent no faster than requested', async () => {
  const started = performance.now();
  await see(undefined, { headers: { 'x-simulator-pace': 'tokensPerSecond=200;firstTokenMs=20', 'x-simulator-output-tokens': '12' } });
  // Twelve tokens at 200 a second, the last frame of four of them due after eight: 40 ms and the first wait of 20.
  assert.ok(performance.now() - started >= 58);
});

test('a client that disconnects in the middle is noticed, and the sent part is known', async () => {
  const headers = { 'x-simulator-pace': 'tokensPerSecond=10', 'x-simulator-output-tokens': '400' };
  await see(undefined, { leaveAfterMs: 0, leaveOnce: /text_delta/, headers });
  const call = await lastCall();
  assert.equal(call.ending, 'client-closed');
  assert.ok(call.emittedTokens > 0 && call.emittedTokens < 400);
  assert.equal(call.plannedUsage?.outputTokens, 400);
  assert.equal(call.reportedUsage?.['output_tokens'], 1);
});

test('usage control: the record distinguishes the written usage from the real one', async () => {
  await see(undefined, { headers: { 'x-simulator-usage': '{"output_tokens":"negative"}' } });
  const call = await lastCall();
  assert.ok(Number(call.reportedUsage?.['output_tokens']) < 0);
  assert.ok((call.plannedUsage?.outputTokens ?? 0) > 0);
});

test('a queued fault applies to the next calls without any header', async () => {
  state.faults = [queueFault({ fault: 'status;status=503', times: 2 })];
  for (const status of ['503', '503', '200']) assert.match((await see(undefined)).head, new RegExp(`^HTTP/1\\.1 ${status} `));
});

test('an unknown fault and unknown parameters are refused', async () => {
  for (const fault of ['explode', 'status;when=now', 'status;status=x']) assert.match((await see(fault)).head, /^HTTP\/1\.1 400 /);
});

test('the chat dialect has its own error event, unknown chunk and sentinel', async () => {
  const ask = (fault: string): Promise<Seen> =>
    exchange(
      servers.openai,
      '/v1/chat/completions',
      JSON.stringify({ model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
      {
        authorization: 'Bearer k',
        'x-simulator-fault': fault,
      },
    );
  assert.match((await ask('error-event')).body, /data: \{"error":\{"message":"The server had an error[^\n]*\n\n$/);
  assert.match((await ask('unknown-event')).body, /"object":"chat\.completion\.simulated_unknown"/);
  assert.ok(!(await ask('missing-sentinel')).body.includes('[DONE]'));
  assert.match((await ask('status;status=429')).body, /"type":"requests","param":null,"code":"rate_limit_exceeded"/);
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Only whether it parses matters.
    return false;
  }
}
