import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { measureBest } from '../support/measure-best.ts';
import { residentBytes } from '../support/process-memory.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { speeches } from './translated-bench.ts';

/**
 * 1,000 by command: `WEIR_STALLED_CLIENTS=1000 node --test conformance/faults/stalled-readers.deep.test.ts`, with as
 * many file descriptors.
 */
const count = Number(process.env['WEIR_STALLED_CLIENTS'] ?? 60);
const mebibyte = 1024 * 1024;
const streamBytes = 64 * mebibyte;
/** 60 s by default. */
const stalledReaderMs = Number(process.env['WEIR_STALLED_MS'] ?? 4000);
const skip = residentBytes(process.pid) === undefined ? 'this system does not report the memory of a process' : false;

describe('clients that never read', { skip, timeout: 600_000 }, () => {
  let upstream: Server;
  let weir: RunningWeir;
  let ledger: Ledger;
  /** The next bytes of the upstream, and the number of bytes that were read. */
  const pouring = { to: 'openai-chat' as DialectId, frameBytes: 0, taken: 0, open: 0 };

  /** Sends a stream of 64 MB as fast as it is read. */
  function pour(response: ServerResponse): void {
    const speech = speeches[pouring.to];
    const frame = Buffer.from(speech.text('x'.repeat(pouring.frameBytes)));
    let left = streamBytes;
    pouring.open += 1;
    response.on('close', () => (pouring.open -= 1));
    response.on('error', () => {});
    response.setHeader('content-type', 'text/event-stream');
    response.write(speech.start);
    const write = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= frame.length;
        pouring.taken += frame.length;
        if (!response.write(frame)) return void response.once('drain', write);
      }
    };
    write();
  }

  before(async () => {
    upstream = createServer((request, response) => {
      request.resume();
      request.on('end', () => pour(response));
    });
    await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const upstreams = {
      messages: { vendor: 'anthropic', baseUrl, apiKey: 'k' },
      chat: { vendor: 'openai-compatible', baseUrl, apiKey: 'k' },
    };
    const models = {
      'of-messages': { targets: [{ upstream: 'messages', model: 'claude-sonnet-4-5' }] },
      'of-chat': { targets: [{ upstream: 'chat', model: 'gpt-4.1' }] },
    };
    weir = await startWeir({ config: JSON.stringify({ overload: neverOverloaded, timeouts: { stalledReaderMs }, upstreams, models }) });
    ledger = await openLedger(weir.dataDirectory);
  });
  after(async () => {
    await ledger.close();
    await weir[Symbol.asyncDispose]();
    upstream.closeAllConnections();
    upstream.close();
  });

  const resident = (): number => residentBytes(weir.process.pid) ?? 0;

  /** A client that requests a stream and reads nothing; its system buffers almost nothing either. */
  function stall(from: DialectId, model: string): Socket {
    const api = chatInterfaces.find(({ dialect }) => dialect === from);
    assert.ok(api);
    const { hostname, port } = new URL(weir.gatewayUrl);
    const body = JSON.stringify(api.body(model, 'Hello', true));
    const headers = {
      host: 'a',
      authorization: `Bearer ${weir.apiKey}`,
      'content-type': 'application/json',
      ...api.headers,
      'content-length': body.length,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write(`POST ${api.path(model, true)} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    return socket;
  }

  /** The most memory that the streams of clients that read nothing take until all are settled and closed. */
  async function watchStalled(from: DialectId, model: string): Promise<{ readonly grown: number; readonly seconds: number }> {
    const rowsBefore = (await ledger.all()).length;
    const before = resident();
    const startedMs = performance.now();
    const sockets = Array.from({ length: count }, () => stall(from, model));
    let peak = before;
    const settled = async (): Promise<number> => {
      peak = Math.max(peak, resident());
      return (await ledger.all()).length - rowsBefore;
    };
    await eventually(settled, (rows) => rows === count, stalledReaderMs + 60_000);
    await eventually(
      () => pouring.open,
      (open) => open === 0,
    );
    for (const socket of sockets) socket.destroy();
    return { grown: peak - before, seconds: (performance.now() - startedMs) / 1000 };
  }

  for (const [from, to, frameBytes] of [
    ['anthropic-messages', 'anthropic-messages', 2000],
    ['openai-chat', 'openai-chat', 100_000],
    ['anthropic-messages', 'openai-chat', 2000],
    ['openai-responses', 'anthropic-messages', 30_000],
  ] as const) {
    test(`${count} streams of 64 MB, ${from} from ${to}, events of ${frameBytes} bytes: bounded, closed and settled`, async () => {
      const round = async (): Promise<{ readonly grown: number; readonly taken: number; readonly summary: string }> => {
        Object.assign(pouring, { to, frameBytes, taken: 0, open: 0 });
        const { grown, seconds } = await watchStalled(from, to === 'openai-chat' ? 'of-chat' : 'of-messages');
        const taken = pouring.taken / count / mebibyte;
        const each = (grown / count / mebibyte).toFixed(2);
        const summary = `${each} MB each at most; the upstream could send ${taken.toFixed(1)} MB each; settled and closed after ${seconds.toFixed(1)} s`;
        process.stdout.write(`${from} from ${to}, events of ${frameBytes}: ${summary}\n`);
        assert.ok(taken < 40, summary);
        assert.ok((await ledger.all()).slice(0, count).every(({ end }) => end === 'client-left'));
        return { grown, taken, summary };
      };
      // A translation keeps the text that it has passed on, which is the size of the system's buffers. Unneeded memory
      // stays until it is collected, and the memory of a new process grows by itself.
      const grownMax = (taken: number): number => (count * (from === to ? 1 : 1 + 1.5 * taken) + 60) * mebibyte;
      const { grown, taken, summary } = await measureBest(round, (each) => each.grown < grownMax(each.taken));
      assert.ok(grown < grownMax(taken), summary);
    });
  }
});
