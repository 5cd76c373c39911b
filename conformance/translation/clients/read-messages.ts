import assert from 'node:assert/strict';

import type { ClientView, ClientError, Stop } from '../conversation.ts';
import { readEvents } from '../read-events.ts';
import type { Wire } from '../wire.ts';

const stops: Readonly<Record<string, Stop>> = {
  end_turn: 'end',
  stop_sequence: 'stop-sequence',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
  pause_turn: 'pause',
};

const ofType = (content: readonly Wire[], type: string): readonly Wire[] => content.filter((block) => block.type === type);

function readUsage(usage: Wire): ClientView['usage'] {
  if (typeof usage?.input_tokens !== 'number' || typeof usage.output_tokens !== 'number') return undefined;
  const cached = usage.cache_read_input_tokens ?? 0;
  const input = usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0);
  return { input, cached, output: usage.output_tokens, reasoning: usage.output_tokens_details?.thinking_tokens ?? 0 };
}

function checkBlock(block: Wire): void {
  switch (block.type) {
    case 'text':
      assert.equal(typeof block.text, 'string');
      // Null citations make AI SDK 6 refuse the whole reply.
      assert.notEqual(block.citations, null);
      break;
    case 'tool_use':
      assert.match(block.id, /^[a-zA-Z0-9_-]+$/);
      assert.ok(typeof block.input === 'object' && block.input !== null && !Array.isArray(block.input), 'the input is an object');
      break;
    case 'thinking':
      assert.equal(typeof block.thinking, 'string');
      assert.equal(typeof block.signature, 'string');
      break;
    case 'redacted_thinking':
      assert.equal(typeof block.data, 'string');
      break;
    case 'server_tool_use':
      assert.match(block.id, /^srvtoolu_[a-zA-Z0-9_]+$/);
      break;
    case 'web_search_tool_result':
    case 'web_fetch_tool_result':
    case 'code_execution_tool_result':
    case 'bash_code_execution_tool_result':
      assert.match(block.tool_use_id, /^srvtoolu_[a-zA-Z0-9_]+$/);
      break;
    default:
      assert.fail(`unknown block ${JSON.stringify(block)}`);
  }
}

/** Reads a message object, whole or assembled from a stream. */
export function readMessage(message: Wire): ClientView {
  assert.equal(message.type, 'message');
  assert.equal(message.role, 'assistant');
  assert.match(message.id, /^msg_/);
  assert.ok(Array.isArray(message.content));
  for (const block of message.content) checkBlock(block);
  const stop = stops[message.stop_reason];
  assert.ok(stop, `stop_reason ${message.stop_reason}`);
  assert.equal(typeof message.stop_sequence === 'string', stop === 'stop-sequence', 'stop_sequence');
  const { content } = message;
  const texts = ofType(content, 'text');
  return {
    model: message.model,
    text: texts.map(({ text }) => text).join(''),
    refusal: '',
    reasoning: ofType(content, 'thinking')
      .map(({ thinking }) => thinking)
      .join(''),
    calls: ofType(content, 'tool_use').map(({ id, name, input }) => ({ id, name, arguments: input })),
    stop,
    ...(stop === 'stop-sequence' ? { stopSequence: message.stop_sequence } : {}),
    usage: readUsage(message.usage),
    citations: texts.flatMap((block) => (block.citations ?? []).map(({ url }: Wire) => ({ url, cited: block.text }))),
    searches: ofType(content, 'web_search_tool_result').length,
    turn: content.length === 0 ? [] : [{ role: 'assistant', content }],
  };
}

function applyDelta(block: Wire, delta: Wire, inputs: Map<Wire, string>): void {
  switch (delta.type) {
    case 'text_delta':
      assert.equal(block.type, 'text');
      block.text += delta.text;
      break;
    case 'thinking_delta':
      assert.equal(block.type, 'thinking');
      block.thinking += delta.thinking;
      break;
    case 'signature_delta':
      assert.equal(block.type, 'thinking');
      block.signature = delta.signature;
      break;
    case 'input_json_delta':
      assert.ok(block.type === 'tool_use' || block.type === 'server_tool_use');
      inputs.set(block, (inputs.get(block) ?? '') + delta.partial_json);
      break;
    case 'citations_delta':
      assert.equal(block.type, 'text');
      block.citations = [...(block.citations ?? []), delta.citation];
      break;
    default:
      assert.fail(`unknown delta ${JSON.stringify(delta)}`);
  }
}

function addUp(events: readonly Wire[]): Wire {
  // Clients ignore pings at any position.
  const [start, ...rest] = events.filter(({ type }) => type !== 'ping');
  assert.equal(start?.type, 'message_start');
  assert.deepEqual(start.message.content, []);
  assert.equal(start.message.stop_reason, null);
  const message = structuredClone(start.message);
  const inputs = new Map<Wire, string>();
  let open: Wire;
  let ended = false;
  for (const event of rest) {
    assert.ok(!ended, `nothing follows message_stop: ${JSON.stringify(event)}`);
    if (event.type === 'content_block_start') {
      assert.equal(open, undefined, 'only one block is open');
      assert.equal(event.index, message.content.length);
      assert.equal(message.stop_reason, null, 'no block begins after message_delta');
      open = structuredClone(event.content_block);
      message.content.push(open);
    } else if (event.type === 'content_block_delta' || event.type === 'content_block_stop') {
      assert.ok(open, 'a block is open');
      assert.equal(event.index, message.content.length - 1);
      if (event.type === 'content_block_delta') applyDelta(open, event.delta, inputs);
      else {
        const input = inputs.get(open) ?? '';
        if (input !== '') open.input = JSON.parse(input);
        open = undefined;
      }
    } else if (event.type === 'message_delta') {
      assert.equal(open, undefined, 'every block has ended before message_delta');
      Object.assign(message, event.delta);
      message.usage = { ...message.usage, ...event.usage };
    } else if (event.type === 'message_stop') ended = true;
    else assert.fail(`unknown event ${JSON.stringify(event)}`);
  }
  assert.ok(ended, 'the stream ends with message_stop');
  return message;
}

/** Fails on any event that the vendor would not send, or in another order. */
export function readMessageStream(text: string): ClientView {
  const events = readEvents(text);
  for (const { name, data } of events) assert.equal(name, data.type, 'the event has the name of its type');
  return readMessage(addUp(events.map(({ data }) => data)));
}

/** Reads an error body. */
export function readMessagesError(status: number, body: Wire): ClientError {
  assert.equal(body.type, 'error');
  assert.equal(typeof body.request_id, 'string');
  return { status, type: body.error.type, message: body.error.message };
}

/** Reads the error event that ends a broken stream. */
export function readBrokenMessageStream(text: string): ClientError {
  const events = readEvents(text).map(({ data }) => data);
  const last = events.at(-1);
  assert.equal(last?.type, 'error', 'a broken stream ends with an error event');
  assert.ok(!events.some(({ type }) => type === 'message_stop'), 'a broken stream has no message_stop');
  return { status: 200, type: last.error.type, message: last.error.message };
}
