import { countToolCall } from '../../plan-reply.ts';
import { splitText, tokensOfLength } from '../../count-tokens.ts';
import { asText, isRecord, recordsOf } from '../../read-json.ts';
import type { JsonRecord } from '../../simulated-vendor.ts';
import { outputItems } from './responses-context.ts';

/** An event with the output tokens that it delivers. */
export type ResponsesEvent = { readonly data: JsonRecord; readonly tokens: number };

export type EventOptions = { readonly tokensPerFrame?: number; readonly includeObfuscation?: boolean };

const obfuscationLength = 16;

/**
 * Writes the whole stream of a finished response, in the vendor's order and numbered from 0. It depends only on the
 * response, so the same events can be replayed for a stored one.
 */
export function writeEvents(response: JsonRecord, options: EventOptions = {}): readonly ResponsesEvent[] {
  const events: ResponsesEvent[] = [];
  const add: AddEvent = (type, members, tokens = 0) => {
    const isPadded = options.includeObfuscation === true && type.endsWith('.delta');
    const padding = isPadded ? { obfuscation: 'simulated-padding'.slice(0, obfuscationLength - (events.length % 8)) } : {};
    events.push({ data: { type, sequence_number: events.length, ...members, ...padding }, tokens });
  };
  const isBackground = response.background === true;
  add('response.created', { response: unfinished(response, isBackground ? 'queued' : 'in_progress') });
  if (isBackground) add('response.queued', { response: unfinished(response, 'queued') });
  add('response.in_progress', { response: unfinished(response, 'in_progress') });
  for (const [index, item] of outputItems(response).entries()) addItem(add, item, index, response, options.tokensPerFrame);
  const delivered = events.reduce((sum, event) => sum + event.tokens, 0);
  // Tokens without visible output, as in an empty reply, are delivered with the end.
  add(`response.${asText(response.status)}`, { response }, Math.max(0, countOf(response, 'output_tokens') - delivered));
  return events;
}

/** Frames an event for the connection. */
export function frameEvent(data: JsonRecord): string {
  return `event: ${asText(data.type)}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The response as it is shown before its end. */
export function unfinished(response: JsonRecord, status: 'queued' | 'in_progress'): JsonRecord {
  return { ...response, status, completed_at: null, incomplete_details: null, output: [], usage: null };
}

/**
 * How a running stream reports a failure: an error event, which the vendor nests though its description shows it flat,
 * then the failed response.
 */
export function writeFailure(response: JsonRecord, sequenceNumber: number): string {
  const message = 'The server had an error while processing your request. Sorry about that!';
  const error = { type: 'server_error', code: 'server_error', message, param: null };
  const failed = { ...unfinished(response, 'in_progress'), status: 'failed', error: { code: 'server_error', message } };
  return (
    frameEvent({ type: 'error', sequence_number: sequenceNumber, error }) +
    frameEvent({ type: 'response.failed', sequence_number: sequenceNumber + 1, response: failed })
  );
}

type AddEvent = (type: string, members: JsonRecord, tokens?: number) => void;

function addItem(add: AddEvent, item: JsonRecord, outputIndex: number, response: JsonRecord, tokensPerFrame: number | undefined): void {
  const at = { item_id: asText(item.id), output_index: outputIndex };
  add('response.output_item.added', { output_index: outputIndex, item: startedItem(item) });
  let ownTokens = 0;
  switch (asText(item.type)) {
    case 'message':
      addParts(add, item, at, tokensPerFrame);
      break;
    case 'reasoning':
      // Hidden reasoning is delivered with the end of its item.
      if (!addSummary(add, item, at, tokensPerFrame)) ownTokens = countOf(detailsOf(response), 'reasoning_tokens');
      break;
    case 'function_call':
      addArguments(add, item, at, tokensPerFrame);
      break;
    case 'custom_tool_call':
      addCustomInput(add, item, at, tokensPerFrame);
      break;
    case 'web_search_call':
      for (const step of ['in_progress', 'searching', 'completed']) add(`response.web_search_call.${step}`, at);
      break;
    default:
      // Other items come complete, between added and done.
      break;
  }
  add('response.output_item.done', { output_index: outputIndex, item }, ownTokens);
}

function startedItem(item: JsonRecord): JsonRecord {
  switch (asText(item.type)) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' };
    case 'reasoning':
      return { ...item, summary: [] };
    case 'web_search_call': {
      const { action: _, ...started } = item;
      return { ...started, status: 'in_progress' };
    }
    default:
      return item;
  }
}

type ItemPlace = { readonly item_id: string; readonly output_index: number };

function addParts(add: AddEvent, item: JsonRecord, place: ItemPlace, tokensPerFrame: number | undefined): void {
  const parts = recordsOf(item.content);
  for (const [index, part] of parts.entries()) {
    const at = { ...place, content_index: index };
    if (part.type === 'refusal') {
      const refusal = asText(part.refusal);
      add('response.content_part.added', { ...at, part: { type: 'refusal', refusal: '' } });
      for (const piece of splitText(refusal, tokensPerFrame)) add('response.refusal.delta', { ...at, delta: piece.text }, piece.tokens);
      add('response.refusal.done', { ...at, refusal });
    } else {
      const text = asText(part.text);
      add('response.content_part.added', { ...at, part: { type: 'output_text', annotations: [], logprobs: [], text: '' } });
      const likely = recordsOf(part.logprobs);
      let told = 0;
      for (const piece of splitText(text, tokensPerFrame)) {
        const logprobs = takeTokens(likely.slice(told), piece.text);
        told += logprobs.length;
        add('response.output_text.delta', { ...at, delta: piece.text, logprobs }, piece.tokens);
      }
      for (const [annotationIndex, annotation] of (Array.isArray(part.annotations) ? part.annotations : []).entries()) {
        add('response.output_text.annotation.added', { ...at, annotation_index: annotationIndex, annotation });
      }
      add('response.output_text.done', { ...at, text, logprobs: [...likely] });
    }
    add('response.content_part.done', { ...at, part });
  }
}

/** The first of these tokens, as many as the text has. */
function takeTokens(tokens: readonly JsonRecord[], text: string): JsonRecord[] {
  const taken: JsonRecord[] = [];
  let characters = 0;
  for (const token of tokens) {
    if (characters >= text.length) break;
    characters += asText(token.token).length;
    taken.push(token);
  }
  return taken;
}

function addSummary(add: AddEvent, item: JsonRecord, place: ItemPlace, tokensPerFrame: number | undefined): boolean {
  const parts = recordsOf(item.summary);
  for (const [index, part] of parts.entries()) {
    const at = { ...place, summary_index: index };
    const text = asText(part.text);
    add('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
    for (const piece of splitText(text, tokensPerFrame)) {
      add('response.reasoning_summary_text.delta', { ...at, delta: piece.text }, piece.tokens);
    }
    add('response.reasoning_summary_text.done', { ...at, text });
    add('response.reasoning_summary_part.done', { ...at, part });
  }
  return parts.length > 0;
}

function addArguments(add: AddEvent, item: JsonRecord, at: ItemPlace, tokensPerFrame: number | undefined): void {
  const text = asText(item.arguments);
  const name = asText(item.name);
  const tokens = tokensOfLength(planName(item).length + text.length);
  addDeltas(add, 'response.function_call_arguments.delta', at, text, tokensPerFrame, tokens);
  add('response.function_call_arguments.done', { ...at, name, arguments: text });
}

function addCustomInput(add: AddEvent, item: JsonRecord, at: ItemPlace, tokensPerFrame: number | undefined): void {
  const input = asText(item.input);
  const tokens = countToolCall({ name: planName(item), arguments: { input } });
  addDeltas(add, 'response.custom_tool_call_input.delta', at, input, tokensPerFrame, tokens);
  add('response.custom_tool_call_input.done', { ...at, input });
}

/** The name by which the plan knows the tool of a call. */
function planName(item: JsonRecord): string {
  return item.namespace === undefined ? asText(item.name) : `${asText(item.namespace)}.${asText(item.name)}`;
}

/** A call also counts its name; the first delta carries the tokens that the pieces of its text leave over. */
function addDeltas(
  add: AddEvent,
  type: string,
  at: ItemPlace,
  text: string,
  tokensPerFrame: number | undefined,
  tokensTotal: number,
): void {
  const pieces = splitText(text, tokensPerFrame);
  const rest = tokensTotal - pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  for (const [index, piece] of pieces.entries()) add(type, { ...at, delta: piece.text }, piece.tokens + (index === 0 ? rest : 0));
}

function detailsOf(response: JsonRecord): JsonRecord {
  const usage = isRecord(response.usage) ? response.usage : {};
  return isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
}

function countOf(record: JsonRecord, member: string): number {
  const usage = isRecord(record.usage) ? record.usage : record;
  const count = usage[member];
  return typeof count === 'number' ? count : 0;
}
