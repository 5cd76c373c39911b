import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { anthropicProof as anthropic, citedPage as page, replyOf as reply, samples } from './testing/sample-replies.ts';
import { createReading, createWriting, decodeStream, encodeStream } from './testing/test-kit.ts';

type WireEvent = { readonly event: string | undefined; readonly data: any };

/** Parses written events. */
function readWritten(text: string): readonly WireEvent[] {
  const reader = createSseFrameReader({ frameBytesMax: 10_000_000 });
  return reader.push(Buffer.from(text)).map((frame) => ({ event: frame.event, data: JSON.parse(frame.data) as unknown }));
}

const streamOf = (source: InferenceReply, writing: ReplyWriting): string => encodeStream(replayReply(source), writing);
const typesOf = (events: readonly WireEvent[]): readonly string[] => events.map(({ data }) => String(data.type).replace('response.', ''));

const answer =
  (body: string, contentType: string): (() => Promise<Response>) =>
  () =>
    Promise.resolve(new Response(body, { status: 200, headers: { 'content-type': contentType } }));

const openClient = (fetch: () => Promise<Response>): OpenAI =>
  new OpenAI({ apiKey: 'k', baseURL: 'http://localhost/v1', fetch, maxRetries: 0 });

describe('the wholeReply reply and the stream are equal', () => {
  for (const [name, source, request] of samples) {
    const wholeReply = encodeReply(source, createWriting(request));
    const stream = streamOf(source, createWriting(request));

    test(`${name}: the last event contains the wholeReply reply`, () => {
      const events = readWritten(stream);
      assert.deepEqual(events.at(-1)?.data.response, wholeReply);
      assert.equal(events.at(-1)?.event, `response.${textOf(wholeReply.status) ?? ''}`);
    });

    test(`${name}: events are numbered from 0, have one name, and belong to open items`, () => {
      const output: any[] = [];
      let open: any;
      for (const [index, { event, data }] of readWritten(stream).entries()) {
        assert.equal(data.sequence_number, index);
        assert.equal(event, data.type);
        if (data.type === 'response.output_item.added') {
          assert.equal(open, undefined);
          assert.equal(data.output_index, output.length);
          open = data.item;
        } else if (data.type === 'response.output_item.done') {
          assert.deepEqual([data.item.id, data.item.type, data.output_index], [open.id, open.type, output.length]);
          output.push(data.item);
          open = undefined;
        } else if (data.response === undefined) {
          assert.deepEqual([data.item_id, data.output_index], [open.id, output.length], data.type);
        }
      }
      assert.deepEqual(output, wholeReply.output);
    });

    test(`${name}: the official accumulator builds the same reply from deltas and from final events`, async () => {
      const client = openClient(answer(stream, 'text/event-stream'));
      const final = await client.responses.stream({ model: 'm', input: 'Hi' }).finalResponse();
      const { output_text: _text, output_parsed: _parsed, ...plain } = JSON.parse(JSON.stringify(final)) as Record<string, unknown>;
      const output = (plain.output as any[]).map(({ parsed_arguments: _arguments, ...item }) => ({
        ...item,
        ...(Array.isArray(item.content) && item.type === 'message'
          ? { content: item.content.map(({ parsed: _content, ...part }: any) => part) }
          : {}),
      }));
      assert.deepEqual({ ...plain, output }, JSON.parse(JSON.stringify(wholeReply)));
    });

    test(`${name}: our reader reads both alike`, () => {
      assert.deepEqual(
        foldEvents(decodeStream(Buffer.from(stream), 61)),
        wholeReply.status === 'failed' ? foldEvents(decodeStream(Buffer.from(stream))) : decodeReply(wholeReply, createReading()),
      );
    });
  }

  test('deltas add up to the repeated texts of final events', () => {
    for (const [name, source, request] of samples) {
      const texts = new Map<string, string>();
      for (const { data } of readWritten(streamOf(source, createWriting(request)))) {
        const key = `${data.item_id} ${data.content_index ?? data.summary_index ?? ''}`;
        if (String(data.type).endsWith('.delta')) texts.set(key, (texts.get(key) ?? '') + String(data.delta));
        if (/text\.done|arguments\.done|input\.done|refusal\.done|code\.done$/.test(String(data.type))) {
          assert.equal(
            texts.get(key) ?? '',
            data.text ?? data.arguments ?? data.input ?? data.refusal ?? data.code,
            `${name}: ${data.type}`,
          );
        }
      }
    }
  });
});

describe('streams', () => {
  test('events are in the recorded order', () => {
    const source = reply(
      [
        { kind: 'reasoning', text: ['a', 'b'], proof: anthropic },
        { kind: 'text', text: 'c', citations: [page] },
        { kind: 'refusal', text: 'd' },
        { kind: 'tool-call', id: 'c1', name: 'f', arguments: '{}' },
        { kind: 'server-tool', tool: 'web-search', id: 's', input: ['q'], wire: [] },
      ],
      { stopReason: 'tool-calls' },
    );
    const summary = 'reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done';
    const order = [
      'created in_progress',
      `output_item.added ${summary} ${summary} output_item.done`,
      'output_item.added content_part.added output_text.delta output_text.annotation.added output_text.done content_part.done',
      'content_part.added refusal.delta refusal.done content_part.done output_item.done',
      'output_item.added function_call_arguments.delta function_call_arguments.done output_item.done',
      'output_item.added web_search_call.in_progress web_search_call.searching web_search_call.completed output_item.done',
      'completed',
    ];
    assert.deepEqual(typesOf(readWritten(streamOf(source, createWriting()))).join(' '), order.join(' '));
  });

  test('snapshots before the end have no output, no usage and the requested tier', () => {
    const [created, progress] = readWritten(streamOf(reply([{ kind: 'text', text: 'a' }]), createWriting({ service_tier: 'flex' })));
    for (const event of [created, progress]) {
      const { status, output, usage, service_tier: tier, model } = event?.data.response ?? {};
      assert.deepEqual([status, output, usage, tier, model], ['in_progress', [], null, 'flex', 'served-model']);
    }
  });

  test("items begin as the vendor's items do", () => {
    const added = readWritten(streamOf(samples.find(([name]) => name === 'a search, code and an image')?.[1] ?? reply([]), createWriting()))
      .filter(({ data }) => data.type === 'response.output_item.added')
      .map(({ data: { item } }) => {
        const { id: _id, container_id: _container, ...rest } = item;
        return rest;
      });
    assert.deepEqual(added, [
      { type: 'web_search_call', status: 'in_progress' },
      { type: 'code_interpreter_call', status: 'in_progress', code: '', outputs: null },
      { type: 'web_search_call', status: 'in_progress' },
      { type: 'image_generation_call', status: 'in_progress', result: null },
      { type: 'message', status: 'in_progress', role: 'assistant', content: [] },
    ]);
  });
});

describe('the AI SDK, which checks every event, reads', () => {
  for (const [name, source, request] of samples.filter(([, { stopReason }]) => stopReason !== 'failed')) {
    test(name, async () => {
      const model = (body: string, type: string) => createOpenAI({ apiKey: 'k', fetch: answer(body, type) }).responses('m');
      const expected = source.parts.flatMap((part) => (part.kind === 'text' || part.kind === 'refusal' ? [part.text] : [])).join('');
      const wholeReply = await generateText({
        model: model(JSON.stringify(encodeReply(source, createWriting(request))), 'application/json'),
        prompt: 'Hi',
      });
      assert.equal(wholeReply.text, expected);
      const stream = streamText({
        model: model(streamOf(source, createWriting(request)), 'text/event-stream'),
        prompt: 'Hi',
        onError: ({ error }) => assert.fail(String(error)),
      });
      assert.equal(await stream.text, expected);
      const { inputTokens, outputTokens } = await stream.usage;
      assert.deepEqual([inputTokens, outputTokens], [10, 9]);
    });
  }
});
