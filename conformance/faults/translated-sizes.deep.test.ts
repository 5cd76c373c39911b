import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { residentBytes } from '../support/process-memory.ts';
import type { RunningWeir } from '../support/start-weir.ts';
import { assertErrorEvent, type Mode } from './fault-bench.ts';
import { directions, type ScriptedWeir, type Speech, speeches, startScriptedProgram, streams } from './translated-bench.ts';

const mebibyte = 1024 * 1024;
const replyBytesMax = 8 * mebibyte;
const skip = residentBytes(process.pid) === undefined ? 'this system does not report the memory of a process' : false;

/** Writes a text repeatedly, as fast as it is read, until the connection is closed. */
function pour(response: ServerResponse, text: string, times: number, end: string): void {
  let written = 0;
  const go = (): void => {
    while (written < times && !response.destroyed) {
      written += 1;
      if (!response.write(text)) return void response.once('drain', go);
    }
    response.end(end);
  };
  go();
}

/** Upstreams of another dialect that send far too much: memory and time stay bounded, and every call ends. */
describe('a translated reply that is too large', { skip }, () => {
  let bench: ScriptedWeir<RunningWeir>;
  before(async () => {
    bench = await startScriptedProgram({ limits: { replyBytesMax, eventBytesMax: 4 * mebibyte } });
    // The first calls load code, which would distort the measurement.
    for (const { mode, to } of directions(true))
      await bench.send(mode, to, streams(speeches[to].start + speeches[to].text('a') + speeches[to].finish));
  });
  after(() => bench[Symbol.asyncDispose]());

  async function growthDuring(action: () => Promise<unknown>): Promise<number> {
    const resident = (): number => residentBytes(bench.weir.process.pid) ?? 0;
    const start = resident();
    let peak = start;
    const timer = setInterval(() => (peak = Math.max(peak, resident())), 20);
    try {
      await action();
    } finally {
      clearInterval(timer);
    }
    return Math.max(peak, resident()) - start;
  }

  const clients: Readonly<Record<DialectId, Mode>> = Object.fromEntries(
    chatInterfaces.map((api) => [api.dialect, { title: api.dialect, api, stream: true }]),
  ) as Record<DialectId, Mode>;

  const openings: readonly {
    readonly name: string;
    readonly from: DialectId;
    readonly to: DialectId;
    readonly before: (speech: Speech) => string;
    readonly poured: (speech: Speech, text: string) => string;
  }[] = [
    {
      name: 'a call that waits for another which never ends',
      from: 'anthropic-messages',
      to: 'openai-chat',
      before: (speech) =>
        speech.beginCall(0, 'c0', 'f') +
        speech.callArguments(0, '{"a":"') +
        speech.beginCall(1, 'c1', 'f') +
        speech.callArguments(1, '{"a":"'),
      poured: (speech, text) => speech.callArguments(1, text),
    },
    {
      name: 'arguments that a client gets in one piece',
      from: 'gemini-generate-content',
      to: 'openai-responses',
      before: (speech) => speech.text('Hi') + speech.beginCall(0, 'c0', 'f') + speech.callArguments(0, '{"a":"'),
      poured: (speech, text) => speech.callArguments(0, text),
    },
    {
      name: 'text that the end repeats',
      from: 'openai-responses',
      to: 'gemini-generate-content',
      before: (speech) => speech.text('Hi'),
      poured: (speech, text) => speech.text(text),
    },
    {
      name: 'arguments of a call without a name',
      from: 'openai-responses',
      to: 'openai-chat',
      before: (speech) => speech.text('Hi'),
      poured: (speech, text) => speech.callArguments(0, text),
    },
  ];
  for (const { name, from, to, before: opening, poured } of openings) {
    test(`${name}, from ${to} to ${from}: refused, and not buffered`, async () => {
      const growth = await growthDuring(async () => {
        const speech = speeches[to];
        const reply = await bench.send(clients[from], to, (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(speech.start + opening(speech));
          pour(response, poured(speech, 'x'.repeat(mebibyte / 4)), 600, speech.finish);
        });
        assertErrorEvent(clients[from], reply);
        assert.match(reply.text, /connection error/i);
        const row = await bench.ledger.row(String(reply.headers['x-weir-request-id']));
        assert.deepEqual([row.end, row.estimated], ['cut', true]);
      });
      assert.ok(growth < 16 * replyBytesMax, `${Math.round(growth / mebibyte)} MB`);
    });
  }

  test('an event of 100 MB is refused and not buffered', async () => {
    for (const { mode, to, title } of directions(true).filter((_, index) => index % 5 === 0)) {
      const speech = speeches[to];
      const growth = await growthDuring(async () => {
        const reply = await bench.send(mode, to, (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(`${speech.start}${speech.text('Hi')}data: "`);
          pour(response, 'x'.repeat(mebibyte), 100, '"\n\n');
        });
        assertErrorEvent(mode, reply);
      });
      assert.ok(growth < 160 * mebibyte, `${title}: ${Math.round(growth / mebibyte)} MB`);
    }
  });

  const count = 20_000;
  const numbers = Array.from({ length: count }, (_, index) => index);
  const manyDirections = ['anthropic-messages to openai-chat', 'openai-chat to openai-responses', 'openai-responses to anthropic-messages'];
  const many: readonly { readonly name: string; readonly say: (speech: Speech) => string }[] = [
    { name: 'pieces of text', say: (speech) => speech.text('a').repeat(count) },
    {
      name: 'calls one after another',
      say: (speech) =>
        numbers
          .map((at) => speech.beginCall(at, `c${at}`, 'f') + speech.callArguments(at, '{}') + speech.endCall(at, `c${at}`, 'f', '{}'))
          .join(''),
    },
    {
      name: 'calls all at once',
      say: (speech) =>
        numbers.map((at) => speech.beginCall(at, `c${at}`, 'f') + speech.callArguments(at, '{"a":')).join('') +
        numbers.map((at) => speech.callArguments(at, '1}') + speech.endCall(at, `c${at}`, 'f', '{"a":1}')).join(''),
    },
  ];
  for (const { name, say } of many) {
    test(`${count} ${name}: the time grows with the reply and not with its square`, async () => {
      for (const { mode, to, title } of directions(true).filter(({ title: direction }) => manyDirections.includes(direction))) {
        const speech = speeches[to];
        const startedMs = performance.now();
        const reply = await bench.send(mode, to, streams(speech.start + say(speech) + speech.finish), { limitMs: 60_000 });
        assert.equal(reply.end, 'complete', `${title}: ${Math.round(performance.now() - startedMs)} ms`);
        assert.match(reply.text, mode.api.terminal, title);
      }
    });
  }

  test('afterwards nothing unexpected was printed', () => {
    assert.doesNotMatch(bench.weir.output(), /unhandled|uncaught|could not be read|TypeError|RangeError/i);
    assert.equal(bench.weir.process.exitCode, null);
  });
});
