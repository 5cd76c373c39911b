import assert from 'node:assert/strict';

import type { ClientView, ClientError, Stop } from '../conversation.ts';
import { readEvents } from '../read-events.ts';
import type { Wire } from '../wire.ts';

const stops: Readonly<Record<string, Stop>> = { stop: 'end', tool_calls: 'calls', length: 'length', content_filter: 'refusal' };

function readUsage(usage: Wire): ClientView['usage'] {
  if (typeof usage?.prompt_tokens !== 'number' || typeof usage.completion_tokens !== 'number') return undefined;
  // xAI counts reasoning beside the completion, and passthrough does not change its counts.
  assert.ok(usage.total_tokens >= usage.prompt_tokens + usage.completion_tokens, 'total_tokens is the sum');
  return {
    input: usage.prompt_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}

function readCall(call: Wire): ClientView['calls'][number] {
  assert.equal(call.type, 'function');
  assert.ok(typeof call.id === 'string' && call.id !== '');
  assert.equal(typeof call.function.arguments, 'string');
  return { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) };
}

/** Text offsets count characters, which for the vendor are code points. */
function readCitation(annotation: Wire, text: string): ClientView['citations'][number] {
  assert.equal(annotation.type, 'url_citation');
  const { start_index: start, end_index: end, url } = annotation.url_citation;
  return { url, cited: Array.from(text).slice(start, end).join('') };
}

/** Reads a completion, whole or assembled from a stream. */
export function readCompletion(completion: Wire): ClientView {
  assert.equal(completion.object, 'chat.completion');
  assert.ok(typeof completion.id === 'string' && completion.id !== '');
  assert.ok(Number.isInteger(completion.created));
  assert.equal(completion.choices.length, 1);
  const [choice] = completion.choices;
  assert.equal(choice.index, 0);
  const { message } = choice;
  assert.equal(message.role, 'assistant');
  assert.ok(typeof message.content === 'string' || message.content === null);
  const reason = stops[choice.finish_reason];
  assert.ok(reason, `finish_reason ${choice.finish_reason}`);
  const refusal = message.refusal ?? '';
  const calls = (message.tool_calls ?? []).map(readCall);
  assert.equal(reason === 'calls', calls.length > 0 && reason !== 'length', 'finish_reason matches the calls');
  return {
    model: completion.model,
    text: message.content ?? '',
    refusal,
    reasoning: message.reasoning_content ?? '',
    calls,
    stop: reason === 'end' && refusal !== '' ? 'refusal' : reason,
    usage: readUsage(completion.usage),
    citations: (message.annotations ?? []).map((annotation: Wire) => readCitation(annotation, message.content ?? '')),
    searches: 0,
    turn: [message],
  };
}

function mergeCall(calls: Wire[], delta: Wire): void {
  assert.ok(Number.isInteger(delta.index));
  const known = calls[delta.index];
  if (known === undefined) {
    assert.equal(delta.index, calls.length, 'calls come in order');
    assert.ok(delta.id && delta.function.name, 'a call begins with its id and name');
    const { index: _, ...call } = delta;
    calls.push({ ...call, function: { ...delta.function, arguments: delta.function.arguments ?? '' } });
  } else {
    known.function.arguments += delta.function?.arguments ?? '';
    const { index: _index, function: _function, id: _id, type: _type, ...more } = delta;
    Object.assign(known, more);
  }
}

const joined = (before: string | null | undefined, piece: string): string => (before ?? '') + piece;

/** Details with one index are pieces of one detail. */
function mergeDetails(details: Wire[] = [], pieces: readonly Wire[]): Wire[] {
  for (const piece of pieces) {
    const known = details.find((detail) => piece.index !== undefined && detail.index === piece.index);
    if (known === undefined) details.push({ ...piece });
    else {
      for (const name of ['text', 'summary']) if (piece[name] !== undefined) known[name] = joined(known[name], piece[name]);
      for (const name of ['signature', 'data']) if (piece[name] !== undefined) known[name] = piece[name];
    }
  }
  return details;
}

function mergeDelta(message: Wire, delta: Wire): void {
  for (const [name, value] of Object.entries(delta) as [string, Wire][]) {
    if (value === null || value === undefined) continue;
    if (name === 'content' || name === 'refusal' || name === 'reasoning_content') message[name] = joined(message[name], value);
    else if (name === 'tool_calls') for (const call of value) mergeCall((message.tool_calls ??= []), call);
    else if (name === 'annotations') message.annotations = [...(message.annotations ?? []), ...value];
    else if (name === 'reasoning_details') message.reasoning_details = mergeDetails(message.reasoning_details, value);
    else message[name] = value;
  }
}

/** Reads a streamed completion with requested usage. */
export function readCompletionStream(text: string): ClientView {
  const events = readEvents(text).map(({ data }) => data);
  assert.equal(events.at(-1), '[DONE]', 'the stream ends with [DONE]');
  const chunks = events.slice(0, -1);
  const [first] = chunks;
  const message: Wire = { role: 'assistant', content: null, refusal: null };
  let finishReason: string | undefined;
  let usage: Wire;
  for (const [index, chunk] of chunks.entries()) {
    assert.equal(chunk.object, 'chat.completion.chunk');
    assert.equal(chunk.id, first.id, 'one id');
    assert.equal(chunk.model, first.model, 'one model');
    if (chunk.choices.length === 0) {
      assert.equal(index, chunks.length - 1, 'the usage chunk is the last');
      usage = chunk.usage;
      continue;
    }
    assert.equal(finishReason, undefined, 'nothing follows finish_reason');
    const [choice] = chunk.choices;
    if (index === 0) assert.equal(choice.delta.role, 'assistant');
    mergeDelta(message, choice.delta);
    finishReason = choice.finish_reason ?? undefined;
  }
  assert.ok(finishReason, 'there is a finish_reason');
  const choices = [{ index: 0, message, finish_reason: finishReason }];
  return readCompletion({ id: first.id, object: 'chat.completion', created: first.created, model: first.model, choices, usage });
}

/** Reads an error body of the chat completions and Responses interfaces. */
export function readOpenaiError(status: number, body: Wire): ClientError {
  const { type, code, message, param } = body.error;
  assert.equal(typeof message, 'string');
  return { status, type: code ?? type, message, ...(typeof param === 'string' ? { param } : {}) };
}

/** Reads the error chunk that ends a broken stream. */
export function readBrokenCompletionStream(text: string): ClientError {
  const events = readEvents(text).map(({ data }) => data);
  const error = events.find((data) => data.error !== undefined);
  assert.ok(error, 'a broken stream has an error chunk');
  assert.ok(!events.some((data) => data.choices?.[0]?.finish_reason), 'a broken stream has no finish_reason');
  return readOpenaiError(200, error);
}
