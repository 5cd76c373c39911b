import assert from 'node:assert/strict';

import type { ClientView, ClientError, Stop } from '../conversation.ts';
import { readEvents } from '../read-events.ts';
import type { Wire } from '../wire.ts';
import { addUpResponse } from './add-up-response.ts';
import { readOpenaiError } from './read-chat.ts';

function readUsage(usage: Wire): ClientView['usage'] {
  if (usage === null || usage === undefined) return undefined;
  assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens, 'total_tokens is the sum');
  return {
    input: usage.input_tokens,
    cached: usage.input_tokens_details.cached_tokens,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.reasoning_tokens,
  };
}

function readStop(response: Wire, refusal: string): Stop {
  if (response.status === 'incomplete') {
    const reasons: Readonly<Record<string, Stop>> = { max_output_tokens: 'length', content_filter: 'refusal' };
    const stop = reasons[response.incomplete_details.reason];
    assert.ok(stop, `reason ${response.incomplete_details.reason}`);
    return stop;
  }
  assert.equal(response.status, 'completed');
  assert.equal(response.incomplete_details ?? null, null);
  if (response.output.some(({ type }: Wire) => type === 'function_call')) return 'calls';
  return refusal === '' ? 'end' : 'refusal';
}

const idPrefixes: Readonly<Record<string, string>> = {
  message: 'msg_',
  reasoning: 'rs_',
  function_call: 'fc_',
  web_search_call: 'ws_',
  code_interpreter_call: 'ci_',
};

function checkItem(item: Wire): void {
  const prefix = idPrefixes[item.type];
  assert.ok(prefix, `the item ${JSON.stringify(item)} is known to clients`);
  assert.ok(item.id.startsWith(prefix), `the id of a ${item.type} begins with ${prefix}: ${item.id}`);
  if (item.type === 'function_call') assert.ok(item.call_id !== '' && item.call_id.length <= 64, item.call_id);
  if (item.type === 'reasoning') for (const part of item.summary) assert.equal(part.type, 'summary_text');
}

/** Offsets count code points, as the vendor does. */
function readCitation(annotation: Wire, text: string): ClientView['citations'][number] {
  assert.equal(annotation.type, 'url_citation');
  const { start_index: start, end_index: end, url } = annotation;
  return { url, cited: Array.from(text).slice(start, end).join('') };
}

/** Reads a response object, whole or assembled from a stream. */
export function readResponse(response: Wire): ClientView {
  assert.equal(response.object, 'response');
  assert.match(response.id, /^resp_/);
  for (const name of ['created_at', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'temperature', 'top_p', 'metadata']) {
    assert.notEqual(response[name], undefined, `clients read ${name}`);
  }
  assert.equal(response.error, null);
  const output: readonly Wire[] = response.output;
  for (const item of output) checkItem(item);
  const parts: readonly Wire[] = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content);
  for (const part of parts) assert.ok(part.type === 'output_text' || part.type === 'refusal', JSON.stringify(part));
  const texts = parts.filter(({ type }) => type === 'output_text');
  for (const part of texts) assert.ok(Array.isArray(part.annotations), 'annotations are a list');
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.refusal] : [])).join('');
  const calls = output.filter(({ type }) => type === 'function_call');
  return {
    model: response.model,
    text: texts.map(({ text }) => text).join(''),
    refusal,
    reasoning: output
      .filter(({ type }) => type === 'reasoning')
      .flatMap(({ summary }) => summary.map(({ text }: Wire) => text))
      .join(''),
    calls: calls.map(({ call_id: id, name, arguments: text }) => ({ id, name, arguments: JSON.parse(text) })),
    stop: readStop(response, refusal),
    usage: readUsage(response.usage),
    citations: texts.flatMap(({ annotations, text }) => annotations.map((annotation: Wire) => readCitation(annotation, text))),
    searches: output.filter(({ type }) => type === 'web_search_call').length,
    turn: output,
  };
}

/** Fails on any event that the vendor would not send, or in another order. */
export function readResponseStream(text: string): ClientView {
  const events = readEvents(text);
  for (const { name, data } of events) assert.equal(name, data.type, 'the event has the name of its type');
  return readResponse(addUpResponse(events.map(({ data }) => data)));
}

/** Reads the failed response that ends a broken stream. */
export function readBrokenResponseStream(text: string): ClientError {
  const events = readEvents(text).map(({ data }) => data);
  const last = events.at(-1);
  assert.equal(last?.type, 'response.failed', 'a broken stream ends with response.failed');
  assert.ok(!events.some(({ type }) => /^response\.(?:completed|incomplete)$/.test(type)));
  return readOpenaiError(200, last.response);
}
