import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { coverPairs } from '../support/cover-pairs.ts';
import { arrayInterface } from '../support/interfaces.ts';
import type { ReceivedReply } from '../support/open-call.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import type { Mode } from './fault-bench.ts';
import {
  answers,
  directions,
  type ScriptedWeir,
  type Script,
  type Speech,
  speeches,
  startScriptedWeir,
  streams,
} from './translated-bench.ts';

/**
 * `whole`: a reply that looks complete; `cut`: an error event after content; `error`: a status; `any`: exactly one of
 * them.
 */
type Expected = 'whole' | 'cut' | 'error' | 'any';

type Lie = {
  readonly name: string;
  readonly script: (speech: Speech, to: DialectId) => Script;
  readonly expected: Expected;
  /** The expected content of the client's text, for a whole reply. */
  readonly says?: string;
};

const quoted = `{"error":{"message":"bad key ${upstreamKey}","type":"constructor","code":"__proto__","status":"toString"}}`;
const deepObject = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;

/** One call with these arguments. */
const withCall = (speech: Speech, text: string, asMember = text): string =>
  speech.start + speech.beginCall(0, 'c0', 'f') + speech.callArguments(0, text) + speech.endCall(0, 'c0', 'f', asMember) + speech.finish;

const lies: readonly Lie[] = [
  {
    name: 'a plain stream',
    script: (speech) => streams(speech.start + speech.text('Grüße') + speech.finish),
    expected: 'whole',
    says: 'Grüße',
  },
  {
    name: 'arguments that are not JSON',
    script: (speech) => streams(withCall(speech, '{nope', '"{nope"')),
    expected: 'whole',
    says: 'nope',
  },
  { name: 'arguments nested a hundred thousand deep', script: (speech) => streams(withCall(speech, deepObject)), expected: 'any' },
  {
    name: 'two calls under one index, and more data for a finished one',
    script: (speech) =>
      streams(
        speech.start +
          speech.beginCall(0, 'c', 'f') +
          speech.beginCall(0, 'd', 'g') +
          speech.callArguments(0, '{}') +
          speech.endCall(0, 'd', 'g', '{}') +
          speech.callArguments(0, '{}') +
          speech.finish,
      ),
    expected: 'whole',
  },
  {
    name: 'deltas of blocks that never began',
    script: (speech) => streams(speech.callArguments(7, '{}') + speech.text('words') + speech.finish),
    expected: 'whole',
    says: 'words',
  },
  {
    name: 'two ends, and text between them',
    script: (speech) => streams(speech.start + speech.text('words') + speech.finish + speech.text('more') + speech.finish),
    expected: 'whole',
    says: 'words',
  },
  { name: 'an end without a beginning', script: (speech) => streams(speech.finish), expected: 'whole' },
  { name: 'only an end mark', script: () => streams('data: [DONE]\n\n'), expected: 'any' },
  { name: 'no body', script: () => streams(''), expected: 'error' },
  {
    name: 'counts that are strings or negative',
    script: (speech) => streams((speech.start + speech.text('words') + speech.finish).replaceAll(':10', ':-5').replaceAll(':20', ':"20"')),
    expected: 'whole',
    says: 'words',
  },
  {
    name: 'invalid UTF-8, a NUL and half a surrogate pair',
    script: (speech) =>
      streams(
        Buffer.concat([
          Buffer.from(speech.start),
          Buffer.from(speech.text('QQ')).map((byte) => (byte === 0x51 ? 0xff : byte)),
          Buffer.from(speech.text('a\0b\ud800c') + speech.finish),
        ]),
      ),
    expected: 'whole',
  },
  {
    name: 'ends and types named like members of every object',
    script: (speech) =>
      streams((speech.start + speech.text('words') + speech.finish).replaceAll(/"(?:stop|end_turn|STOP|completed)"/g, '"constructor"')),
    expected: 'whole',
    says: 'words',
  },
  { name: 'an HTML page', script: () => answers(200, 'text/html', '<html>'), expected: 'error' },
  {
    name: 'events with the content type of JSON',
    script: (speech) => answers(200, 'application/json', speech.text('words')),
    expected: 'error',
  },
  {
    name: 'a whole reply to a stream request',
    script: (speech) => answers(200, 'application/json', JSON.stringify(speech.whole('words'))),
    expected: 'whole',
    says: 'words',
  },
  {
    name: 'a whole reply with the content type of events',
    script: (speech) => answers(200, 'text/event-stream', JSON.stringify(speech.whole('words'))),
    expected: 'error',
  },
  { name: 'an error inside a 200 that quotes the credential', script: () => answers(200, 'application/json', quoted), expected: 'error' },
  { name: 'an error answer that quotes the credential', script: () => answers(418, 'application/json', quoted), expected: 'error' },
  {
    name: 'an error event that quotes the credential',
    script: (speech) => streams(`${speech.start}${speech.text('words')}event: error\ndata: ${quoted.replace('{', '{"type":"error",')}\n\n`),
    expected: 'cut',
  },
  {
    name: 'a redirect',
    script: () => (reply) => {
      reply.writeHead(307, { location: 'http://127.0.0.1:1/' });
      reply.end();
    },
    expected: 'error',
  },
  {
    name: 'a connection that is reset',
    script: (speech) => (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write(speech.start + speech.text('words'), () => setTimeout(() => reply.socket?.resetAndDestroy(), 1000));
    },
    expected: 'cut',
  },
  { name: 'a body that stops before its end', script: (speech) => streams(speech.start + speech.text('words')), expected: 'cut' },
  {
    name: 'a last event without its blank line',
    script: (speech) => streams((speech.start + speech.text('words') + speech.finish).trimEnd()),
    expected: 'whole',
    says: 'words',
  },
  {
    name: 'silence in mid-stream',
    script: (speech) => (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write(speech.start + speech.text('words'));
    },
    expected: 'cut',
  },
  { name: 'silence before the head', script: () => () => {}, expected: 'error' },
];

/** Classifies a reply. A reply that belongs to no class, or to two, is one that no client can understand. */
function judge(mode: Mode, reply: ReceivedReply): Expected | 'nothing' {
  if (reply.status !== 200) {
    const body: unknown = JSON.parse(reply.text);
    return mode.api.errorType(Array.isArray(body) ? body[0] : body) === undefined ? 'nothing' : 'error';
  }
  const [hasEnd, hasError] = [mode.api.terminal.test(reply.text), mode.api.errorEvent.test(reply.text)];
  if (hasEnd === hasError) return 'nothing';
  return hasEnd ? 'whole' : 'cut';
}

/** Every event that a client gets can be parsed. */
function assertFrames(mode: Mode, { text }: ReceivedReply): void {
  if (mode.api === arrayInterface) assert.ok(Array.isArray(JSON.parse(text)));
  else for (const [, data] of text.matchAll(/^data: (.*)$/gm)) if (data !== '[DONE]') JSON.parse(data?.trimEnd() ?? '');
}

/** False data are read in the upstream's dialect and reported in the client's: each pair of the three is met. */
function directionsOf(all: readonly Lie[], name: string, stream: boolean): ReturnType<typeof directions> {
  const cases = all.flatMap((lie) => directions(stream).map((direction) => ({ lie, direction })));
  const chosen = coverPairs(cases, ({ lie, direction: { mode, to } }) => [lie.name, to, mode.api.path('m', stream)]);
  return chosen.filter(({ lie }) => lie.name === name).map(({ direction }) => direction);
}

const bookedEnd = { whole: 'finished', cut: 'cut', error: 'failed' } as const;

describe('an upstream of another dialect that sends false data', { concurrency: 4 }, () => {
  let bench: ScriptedWeir;
  before(async () => {
    bench = await startScriptedWeir({ timeouts: { idleMs: 12_000, firstByteMs: 12_000 } });
  });
  after(() => bench[Symbol.asyncDispose]());

  for (const { name, script, expected, says } of lies) {
    test(`${name}: ${expected}`, async () => {
      await Promise.all(
        directionsOf(lies, name, true).map(async ({ mode, to, title }) => {
          const reply = await bench.send(mode, to, script(speeches[to], to));
          assert.equal(reply.end, 'complete', title);
          const found = judge(mode, reply);
          assert.ok(
            found !== 'nothing' && (expected === 'any' || found === expected),
            `${title}: ${found}: ${reply.status} ${reply.text.slice(-400)}`,
          );
          if (reply.status === 200) assertFrames(mode, reply);
          if (says !== undefined && to !== 'gemini-generate-content') assert.ok(reply.text.includes(says), `${title}: ${reply.text}`);
          assert.doesNotMatch(reply.text, /internal_error/, title);
          assert.ok(!(reply.text + JSON.stringify(reply.headers)).includes(upstreamKey), `${title}: ${reply.text}`);
          const row = await bench.ledger.row(String(reply.headers['x-weir-request-id']));
          assert.equal(row.end, bookedEnd[found === 'any' ? 'whole' : found], title);
          if (found === 'error') assert.deepEqual([row.usage, row.charge.amountNanoUsd], [{}, 0n], title);
          if (found === 'cut') assert.equal(row.estimated, true, title);
        }),
      );
    });
  }

  const wholeLies: readonly Lie[] = [
    {
      name: 'a plain reply',
      script: (speech) => answers(200, 'application/json', JSON.stringify(speech.whole('words'))),
      expected: 'whole',
    },
    { name: 'events', script: (speech) => streams(speech.start + speech.text('words') + speech.finish), expected: 'error' },
    { name: 'a JSON that is not an object', script: () => answers(200, 'application/json', 'null'), expected: 'any' },
    {
      name: 'a JSON with no expected member',
      script: () => answers(200, 'application/json', '{"a":[1,{"b":null}]}'),
      expected: 'any',
    },
    {
      name: 'the expected members, and others a hundred thousand deep',
      script: (speech) => answers(200, 'application/json', `${JSON.stringify(speech.whole('words')).slice(0, -1)},"more":${deepObject}}`),
      expected: 'error',
    },
    {
      name: 'brackets a hundred thousand deep',
      script: () => answers(200, 'application/json', '['.repeat(100_000) + ']'.repeat(100_000)),
      expected: 'any',
    },
    {
      name: 'ends named like members of every object',
      script: (speech) =>
        answers(
          200,
          'application/json',
          JSON.stringify(speech.whole('words')).replaceAll(/"(?:stop|end_turn|STOP|completed)"/g, '"constructor"'),
        ),
      expected: 'whole',
    },
    { name: 'an error inside that quotes the credential', script: () => answers(200, 'application/json', quoted), expected: 'error' },
    { name: 'no body', script: () => answers(200, 'application/json', ''), expected: 'error' },
  ];
  for (const { name, script, expected } of wholeLies) {
    test(`${name} as answer to a request for a whole reply: ${expected}`, async () => {
      for (const { mode, to, title } of directionsOf(wholeLies, name, false)) {
        const reply = await bench.send(mode, to, script(speeches[to], to));
        assert.equal(reply.end, 'complete', title);
        const found = reply.status === 200 ? 'whole' : judge(mode, reply);
        assert.ok(
          found === expected || (expected === 'any' && found !== 'nothing'),
          `${title}: ${reply.status} ${reply.text.slice(0, 400)}`,
        );
        assert.doesNotMatch(reply.text, /internal_error/, title);
        assert.ok(!(reply.text + JSON.stringify(reply.headers)).includes(upstreamKey), title);
        const row = await bench.ledger.row(String(reply.headers['x-weir-request-id']));
        assert.equal(row.end, found === 'whole' ? 'finished' : 'failed', title);
      }
    });
  }

  test('afterwards nothing unexpected was printed', () => {
    assert.doesNotMatch(
      bench.weir.output(),
      /unhandled|uncaught|failed inside the gateway|reading a reply failed|malformed stream events|TypeError|RangeError/i,
    );
    assert.ok(!bench.weir.output().includes(upstreamKey));
  });
});
