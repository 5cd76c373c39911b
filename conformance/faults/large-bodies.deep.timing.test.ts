import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { readLoop, watchedNodeArguments } from '../support/loop-watch.ts';
import { type ChatInterface, chatInterfaces } from '../support/interfaces.ts';
import { measureBest } from '../support/measure-best.ts';
import type { RunningWeir } from '../support/start-weir.ts';
import { startScriptedProgram, type ScriptedWeir, speeches } from './translated-bench.ts';

/** The goal is 50 ms on a quiet machine. With other load, caches are cold and memory is slow. */
const busiestMsMax = Number(process.env['WEIR_LONGEST_BLOCK_MS'] ?? 75);
/** With other load the system itself suspends the process for longer; no call may wait for much longer than that. */
const longestMsMax = 1000;
const mebibyte = 1024 * 1024;

/** Text of a given number of bytes. */
const fill = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));
const picture = fill('iVBORw0KGgoAAAANSUhEUgAAAAEabc+/', 28 * mebibyte);
const many = <Item>(length: number, make: (index: number) => Item): readonly Item[] => Array.from({ length }, (_, index) => make(index));

/** A message of a user in each interface, and an image in it. */
type Words = { readonly text: (model: string, text: string) => object; readonly picture: (model: string, data: string) => object };
const words: Readonly<Record<DialectId, Words>> = {
  'anthropic-messages': {
    text: (model, content) => ({ model, max_tokens: 100, messages: [{ role: 'user', content }] }),
    picture: (model, data) => ({
      model,
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }] }],
    }),
  },
  'openai-responses': {
    text: (model, input) => ({ model, input }),
    picture: (model, data) => ({
      model,
      input: [{ role: 'user', content: [{ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${data}` }] }],
    }),
  },
  'openai-chat': {
    text: (model, content) => ({ model, messages: [{ role: 'user', content }] }),
    picture: (model, data) => ({
      model,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] }],
    }),
  },
  'gemini-generate-content': {
    text: (_model, text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    picture: (_model, data) => ({ contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data } }] }] }),
  },
};

/** Converse, as clients of Bedrock send it. */
const converse: Pick<ChatInterface, 'path' | 'headers'> = { path: (model) => `/model/${model}/converse`, headers: {} };
const saidInConverse = (block: object): string => JSON.stringify({ messages: [{ role: 'user', content: [block] }] });

/** Bodies that are invalid or unusual requests of any interface. */
const hostile: Readonly<Record<string, (model: string) => string>> = {
  'escapes only': (model) => JSON.stringify(words['anthropic-messages'].text(model, fill('"\n', 10 * mebibyte))),
  'escaped emoji': (model) =>
    JSON.stringify(words['anthropic-messages'].text(model, 'TEXT')).replace('TEXT', fill('\\ud83c\\udf0a', 28 * mebibyte)),
  'many messages': (model) =>
    JSON.stringify({
      model,
      max_tokens: 9,
      messages: many(40_000, (index) => ({ role: index % 2 ? 'assistant' : 'user', content: fill('x', 700) })),
    }),
  'many blocks': (model) =>
    JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: many(48_000, () => ({ type: 'text', text: 'x' })) }] }),
  'many wrong blocks': (model) =>
    JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: many(48_000, () => ({ type: 'text', txt: 'x' })) }] }),
  'many small numbers': (model) => JSON.stringify({ model, max_tokens: 9, messages: many(240_000, (index) => index) }),
  'too many numbers': (model) => `{"model":"${model}","messages":[${fill('0,', 28 * mebibyte)}0]}`,
  'many keys': (model) =>
    JSON.stringify({ model, max_tokens: 9, messages: [], metadata: Object.fromEntries(many(110_000, (index) => [`k${index}`, index])) }),
  'deep nesting': (model) => `{"model":"${model}","messages":${fill('[', 28 * mebibyte)}`,
  'large levels': (model) => `{"model":"${model}","messages":${'['.repeat(60)}"${fill('\\"', 28 * mebibyte)}"${']'.repeat(60)}}`,
  'cut at the end': (model) => JSON.stringify({ model, text: fill('é ', 28 * mebibyte) }).slice(0, -2),
  'a long key': (model) => `{"model":"${model}","${fill('\\u0041', 28 * mebibyte)}":1}`,
  'a long number': (model) => `{"model":"${model}","n":${fill('9', 28 * mebibyte)}}`,
  'white space': (model) => `{"model":"${model}",${fill(' \n', 28 * mebibyte)}"n":1}`,
  'a picture with a wrong character': (model) => JSON.stringify(words['anthropic-messages'].picture(model, `${picture}!`)),
  'a text in the place of a picture': (model) =>
    JSON.stringify(words['anthropic-messages'].picture(model, fill('hello, wörld ', 28 * mebibyte))),
  'invalid UTF-8': (model) => JSON.stringify({ model, text: fill('é ', 20 * mebibyte) + '\ud800' }).replace('\\ud800', '\u00ff'),
};

describe('large bodies do not block the event loop', { timeout: 600_000 }, () => {
  let bench: ScriptedWeir<RunningWeir>;
  const table: string[] = [];
  before(async () => {
    bench = await startScriptedProgram({}, watchedNodeArguments);
    // The first calls load and compile code, which would distort the measurement.
    for (const api of chatInterfaces)
      for (const to of chatInterfaces)
        await send(api.dialect, to.dialect, (model) => JSON.stringify(words[api.dialect].text(model, fill('hello ', mebibyte))));
  });
  after(async () => {
    process.stdout.write(`${table.join('\n')}\n`);
    await bench[Symbol.asyncDispose]();
  });

  /** Sends a body and returns the answer, the upstream's request, and the longest block of the event loop. */
  async function send(from: DialectId, to: DialectId, text: (model: string) => string, form: Partial<ChatInterface> = {}) {
    const own = chatInterfaces.find(({ dialect }) => dialect === from);
    assert.ok(own);
    const api = { ...own, ...form };
    let received: string | undefined;
    let sent = '';
    await readLoop(bench.weir);
    const reply = await bench.send(
      { title: from, api, stream: false },
      to,
      (response, body) => {
        received = createHash('sha1').update(body).digest('hex');
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(speeches[to].whole('Hello!')));
      },
      { text: (model) => (sent = text(model)), limitMs: 60_000 },
    );
    const { busiestMs, longestMs } = await readLoop(bench.weir);
    const hash = createHash('sha1').update(sent).digest('hex');
    return { reply, received, sent: hash, bytes: Buffer.byteLength(sent), busiestMs, longestMs };
  }

  /**
   * Sends a body, repeats it if the event loop was blocked for too long, and asserts that one attempt was quick enough.
   */
  async function sendShortly(title: string, body: () => ReturnType<typeof send>): ReturnType<typeof send> {
    const isShort = ({ busiestMs, longestMs }: Awaited<ReturnType<typeof send>>): boolean =>
      busiestMs < busiestMsMax && longestMs < longestMsMax;
    const done = await measureBest(body, isShort);
    const { bytes, reply } = done;
    const held = `was busy for ${done.busiestMs.toFixed(1).padStart(5)} ms, blocked for ${done.longestMs.toFixed(1).padStart(6)} ms`;
    table.push(`${title.padEnd(52)} ${(bytes / mebibyte).toFixed(1).padStart(5)} MB  ${reply.status}  ${held}`);
    assert.ok(isShort(done), `${title}: the event loop ${held}`);
    return done;
  }

  for (const { dialect } of chatInterfaces) {
    test(`${dialect}: an image and a text of 28 MB pass unchanged`, async () => {
      for (const [title, body] of [
        ['picture', (model: string) => words[dialect].picture(model, picture)],
        ['text', (model: string) => words[dialect].text(model, fill('hello, wörld ', 28 * mebibyte))],
      ] as const) {
        const done = await sendShortly(`${dialect}, ${title}`, () => send(dialect, dialect, (model) => JSON.stringify(body(model))));
        // This text is certainly longer than any window, and Responses refuses it before the upstream is called.
        const isTooLong = dialect === 'openai-responses' && title === 'text';
        assert.equal(done.reply.status, isTooLong ? 400 : 200, done.reply.text.slice(0, 300));
      }
    });
  }

  for (const [from, to] of [
    ['anthropic-messages', 'openai-chat'],
    ['openai-chat', 'gemini-generate-content'],
    ['gemini-generate-content', 'openai-responses'],
    ['openai-responses', 'anthropic-messages'],
  ] as const) {
    test(`${from} to ${to}: an image, a text and escapes of 28 MB are translated`, async () => {
      for (const [title, body] of [
        ['picture', (model: string) => words[from].picture(model, picture)],
        ['text', (model: string) => words[from].text(model, fill('hello, wörld ', 28 * mebibyte))],
        ['escapes', (model: string) => words[from].text(model, fill('"\n', 14 * mebibyte))],
      ] as const) {
        const done = await sendShortly(`${from} to ${to}, ${title}`, () => send(from, to, (model) => JSON.stringify(body(model))));
        const isTooLong = from === 'openai-responses' && title !== 'picture';
        assert.equal(done.reply.status, isTooLong ? 400 : 200, done.reply.text.slice(0, 300));
      }
    });
  }

  test('Converse to anthropic-messages: an image, a text and escapes of 20 MB are translated', async () => {
    for (const [title, block] of [
      ['picture', { image: { format: 'png', source: { bytes: picture.slice(0, 20 * mebibyte) } } }],
      ['text', { text: fill('hello, wörld ', 20 * mebibyte) }],
      ['escapes', { text: fill('"\n', 10 * mebibyte) }],
      ['a result', { toolResult: { toolUseId: 't1', content: [{ json: { text: fill('"\n', 8 * mebibyte) } }] } }],
    ] as const) {
      const done = await sendShortly(`Converse to anthropic-messages, ${title}`, () =>
        send('anthropic-messages', 'anthropic-messages', () => saidInConverse(block), converse),
      );
      assert.equal(done.reply.status, 200, done.reply.text.slice(0, 300));
    }
  });

  for (const [title, body] of Object.entries(hostile)) {
    test(`hostile: ${title}`, async () => {
      const { reply } = await sendShortly(`hostile: ${title}`, () => send('anthropic-messages', 'anthropic-messages', body));
      assert.ok(reply.status === 200 || reply.status === 400, `${reply.status} ${reply.text.slice(0, 300)}`);
    });
  }

  test('six simultaneous bodies block others no longer than one', async () => {
    const sixTimes = async (): ReturnType<typeof send> => {
      await readLoop(bench.weir);
      const all = await Promise.all(
        many(6, () =>
          send('anthropic-messages', 'anthropic-messages', (model) =>
            JSON.stringify(words['anthropic-messages'].text(model, fill('"\n', 8 * mebibyte))),
          ),
        ),
      );
      const [first] = all;
      assert.ok(first);
      const longest = (key: 'busiestMs' | 'longestMs'): number => Math.max(...all.map((each) => each[key]));
      return { ...first, busiestMs: longest('busiestMs'), longestMs: longest('longestMs') };
    };
    await sendShortly('six at once: escapes only', sixTimes);
  });
});
