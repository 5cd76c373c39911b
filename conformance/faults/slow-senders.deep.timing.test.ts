import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { chatInterfaces } from '../support/interfaces.ts';
import { eventually, post } from '../support/http.ts';
import { measureBest } from '../support/measure-best.ts';
import { residentBytes } from '../support/process-memory.ts';
import { type SimulatedProgram, startSimulatedProgram } from '../support/start-simulated-weir.ts';

/**
 * 5,000 by command: `WEIR_SLOW_CLIENTS=5000 node --test conformance/faults/slow-senders.deep.timing.test.ts`, with as
 * many file descriptors.
 */
const count = Number(process.env['WEIR_SLOW_CLIENTS'] ?? 300);
const kibibyte = 1024;

/** A client that sends a byte per second, and its result. */
type Dripper = {
  readonly kind: 'head' | 'body' | 'chunks' | 'silent';
  readonly socket: Socket;
  answer: string;
  closedAfterMs: number | undefined;
};

const [messages, responses] = chatInterfaces;
assert.ok(messages !== undefined && responses !== undefined);

// The client that is served mostly waits.
describe('clients that send slowly', { timeout: 600_000, concurrency: 2 }, () => {
  let bench: SimulatedProgram;
  before(async () => {
    bench = await startSimulatedProgram();
  });
  after(() => bench[Symbol.asyncDispose]());

  function open(kind: Dripper['kind']): Dripper {
    const { hostname, port } = new URL(bench.weir.gatewayUrl);
    const socket = connect(Number(port), hostname);
    const dripper: Dripper = { kind, socket, answer: '', closedAfterMs: undefined };
    let openedMs = performance.now();
    socket.on('error', () => {});
    const length = kind === 'chunks' ? 'transfer-encoding: chunked' : 'content-length: 100000';
    const head = `POST /v1/messages HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${bench.weir.apiKey}\r\ncontent-type: application/json\r\nanthropic-version: 2023-06-01\r\n`;
    const drip = kind === 'chunks' ? '1\r\nx\r\n' : 'x';
    let timer: NodeJS.Timeout | undefined;
    socket.on('connect', () => {
      openedMs = performance.now();
      if (kind === 'silent') return;
      socket.write(kind === 'head' ? `${head}x-slow: ` : `${head}${length}\r\n\r\n`);
      timer = setInterval(() => socket.write(drip), 1000);
    });
    socket.on('data', (chunk) => (dripper.answer += chunk.toString('latin1')));
    socket.on('close', () => {
      clearInterval(timer);
      dripper.closedAfterMs = performance.now() - openedMs;
    });
    return dripper;
  }

  /** The 99th percentile of a hundred consecutive calls. */
  async function slowest(calls: number): Promise<{ readonly p50: number; readonly p99: number }> {
    const times: number[] = [];
    for (let call = 0; call < calls; call++) {
      const startedMs = performance.now();
      const { status } = await post(`${bench.weir.gatewayUrl}/v1/messages`, messages?.body(messages.model, 'hi'), {
        ...messages?.headers,
        authorization: `Bearer ${bench.weir.apiKey}`,
      });
      assert.equal(status, 200);
      times.push(performance.now() - startedMs);
    }
    times.sort((a, b) => a - b);
    return { p50: times[Math.floor(calls / 2)] ?? 0, p99: times[Math.floor(calls * 0.99)] ?? 0 };
  }

  test(`slowloris: ${count} clients that send a byte per second are refused in time, and others do not notice them`, async () => {
    await slowest(300);
    const alone = await slowest(300);
    // A factor of two is the promise on an idle machine.
    const isUnnoticed = ({ p99 }: { readonly p99: number }): boolean => p99 < 2 * alone.p99 + 50;
    const before = residentBytes(bench.weir.process.pid) ?? 0;
    const kinds = ['head', 'body', 'chunks', 'silent'] as const;
    const drippers = Array.from({ length: count }, (_, index) => open(kinds[index % kinds.length] ?? 'head'));
    await eventually(
      () => drippers.filter(({ socket }) => socket.connecting).length,
      (connecting) => connecting === 0,
      20_000,
    );
    // Some seconds of single bytes.
    await new Promise((resolve) => setTimeout(resolve, 4000));
    assert.equal(drippers.filter(({ closedAfterMs }) => closedAfterMs !== undefined).length, 0, 'no client is refused before its time-out');
    const memory = Math.max(0, (residentBytes(bench.weir.process.pid) ?? 0) - before) / count;
    const beside = await measureBest(() => slowest(300), isUnnoticed);
    await eventually(
      () => drippers.filter(({ closedAfterMs }) => closedAfterMs === undefined).length,
      (left) => left === 0,
    );
    for (const kind of kinds) {
      const all = drippers.filter((dripper) => dripper.kind === kind);
      const longest = Math.max(...all.map(({ closedAfterMs }) => closedAfterMs ?? Infinity));
      process.stdout.write(`${kind}: closed after at most ${(longest / 1000).toFixed(1)} s\n`);
      assert.ok(longest < 25_000, `${kind}: ${longest} ms`);
      for (const { answer } of all) {
        if (kind === 'body' || kind === 'chunks')
          assert.match(answer, /^HTTP\/1\.1 408 .*connection: close.*"type":"error".*10240 are expected/is);
        else if (kind === 'head') assert.match(answer, /^HTTP\/1\.1 408 /);
        else assert.equal(answer, '', 'a client that sent nothing would take an answer for that of its next request');
      }
    }
    const summary = `p99 ${beside.p99.toFixed(1)} ms beside ${count} slow clients, ${alone.p99.toFixed(1)} ms alone; p50 ${beside.p50.toFixed(1)} and ${alone.p50.toFixed(1)} ms; ${(memory / kibibyte).toFixed(1)} KB for each`;
    process.stdout.write(`${summary}\n`);
    assert.ok(isUnnoticed(beside), summary);
    assert.ok(memory < 64 * kibibyte, summary);
  });

  test('a client that sends slowly, but fast enough, is served', async () => {
    const { hostname, port } = new URL(bench.weir.gatewayUrl);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    const closed = new Promise((resolve) => void socket.once('close', resolve));
    const text = JSON.stringify(responses.body(responses.model, 'x'.repeat(28_000)));
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${bench.weir.apiKey}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${text.length}\r\n\r\n`,
    );
    for (let at = 0; at < text.length; at += 2000) {
      socket.write(text.slice(at, at + 2000));
      await new Promise((resolve) => setTimeout(resolve, 900));
    }
    await closed;
    assert.match(answer, /^HTTP\/1\.1 200 /);
  });
});
