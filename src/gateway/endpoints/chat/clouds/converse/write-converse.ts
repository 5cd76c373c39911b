import { countOf, membersOf, objectsOf, textOf } from '../../../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../../../platform/json/json-value.ts';

/** The ends of Messages, where Converse has another word. Source: StopReason of the Bedrock API reference. */
const stopReasons: Readonly<Record<string, string | undefined>> = { refusal: 'content_filtered', pause_turn: 'end_turn' };

function writeStopReason(reason: JsonValue | undefined): string {
  const text = textOf(reason) ?? 'end_turn';
  return (Object.hasOwn(stopReasons, text) ? stopReasons[text] : undefined) ?? text;
}

/** The usage of Messages as TokenUsage of Converse. Its counts are disjoint, as there. */
function writeUsage(usage: JsonObject): JsonObject {
  const inputTokens = countOf(usage.input_tokens) ?? 0;
  const outputTokens = countOf(usage.output_tokens) ?? 0;
  const read = countOf(usage.cache_read_input_tokens);
  const written = countOf(usage.cache_creation_input_tokens);
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens + (read ?? 0) + (written ?? 0),
    ...(read === undefined ? {} : { cacheReadInputTokens: read }),
    ...(written === undefined ? {} : { cacheWriteInputTokens: written }),
    ...writeCacheDetails(membersOf(usage.cache_creation)),
  };
}

const lifetimes = [
  ['5m', 'ephemeral_5m_input_tokens'],
  ['1h', 'ephemeral_1h_input_tokens'],
] as const;

function writeCacheDetails(split: JsonObject): JsonObject {
  const details = lifetimes.flatMap(([ttl, name]) => {
    const inputTokens = countOf(split[name]) ?? 0;
    return inputTokens === 0 ? [] : [{ ttl, inputTokens }];
  });
  return details.length === 0 ? {} : { cacheDetails: details };
}

/**
 * The members of a reply that a request has asked for by JSON Pointers, such as `/stop_sequence`. Those that the reply
 * has not are left out.
 */
function pickFields(reply: JsonObject, pointers: readonly string[]): JsonObject {
  const found = pointers.flatMap((pointer) => {
    const name = pointer.replace(/^\//, '').replaceAll('~1', '/').replaceAll('~0', '~');
    return Object.hasOwn(reply, name) ? [[name, reply[name]] as const] : [];
  });
  return found.length === 0 ? {} : { additionalModelResponseFields: Object.fromEntries(found) };
}

/** A whole reply of Messages as one of Converse. */
export function writeConverse(reply: JsonObject, latencyMs: number, pointers: readonly string[]): JsonObject {
  return {
    output: { message: { role: 'assistant', content: objectsOf(reply.content).flatMap(writeBlock) } },
    stopReason: writeStopReason(reply.stop_reason),
    usage: writeUsage(membersOf(reply.usage)),
    metrics: { latencyMs },
    ...pickFields(reply, pointers),
  };
}

function writeBlock(block: JsonObject): readonly JsonObject[] {
  switch (textOf(block.type) ?? '') {
    case 'text':
      return [{ text: block.text }];
    case 'tool_use':
      return [{ toolUse: { toolUseId: block.id, name: block.name, input: block.input } }];
    case 'thinking': {
      const { thinking: text, signature } = block;
      return [{ reasoningContent: { reasoningText: { text, ...(signature === undefined || signature === '' ? {} : { signature }) } } }];
    }
    case 'redacted_thinking':
      return [{ reasoningContent: { redactedContent: block.data } }];
    default:
      // No request of Converse asks for another block.
      return [];
  }
}

/** An event of a stream: its type and its payload. */
export type ConverseEvent = readonly [type: string, payload: JsonObject];

/** Writes the events of Messages as those of ConverseStream: each begins, goes on or ends the same block. */
export class ConverseStream {
  readonly #pointers: () => readonly string[];
  #usage: JsonObject = {};
  #end: JsonObject = {};

  constructor(pointers: () => readonly string[]) {
    this.#pointers = pointers;
  }

  write(type: string | undefined, event: JsonObject, latencyMs: number): readonly ConverseEvent[] {
    const contentBlockIndex = countOf(event.index) ?? 0;
    switch (type ?? '') {
      case 'message_start':
        this.#usage = membersOf(membersOf(event.message).usage);
        return [['messageStart', { role: 'assistant' }]];
      case 'content_block_start':
        return startBlock(contentBlockIndex, membersOf(event.content_block));
      case 'content_block_delta':
        return writeDelta(contentBlockIndex, membersOf(event.delta));
      case 'content_block_stop':
        return [['contentBlockStop', { contentBlockIndex }]];
      case 'message_delta':
        this.#usage = { ...this.#usage, ...membersOf(event.usage) };
        this.#end = membersOf(event.delta);
        return [];
      case 'message_stop':
        return [
          ['messageStop', { stopReason: writeStopReason(this.#end.stop_reason), ...pickFields(this.#end, this.#pointers()) }],
          ['metadata', { usage: writeUsage(this.#usage), metrics: { latencyMs } }],
        ];
      default:
        return [];
    }
  }
}

/** Only calls have a start. A block that has its content at once gets a delta. */
function startBlock(contentBlockIndex: number, block: JsonObject): readonly ConverseEvent[] {
  const { type, id, name, text, data } = block;
  if (type === 'tool_use') return [['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: id, name } } }]];
  if (type === 'redacted_thinking') return [delta(contentBlockIndex, { reasoningContent: { redactedContent: data } })];
  return typeof text === 'string' && text !== '' ? [delta(contentBlockIndex, { text })] : [];
}

function delta(contentBlockIndex: number, content: JsonObject): ConverseEvent {
  return ['contentBlockDelta', { contentBlockIndex, delta: content }];
}

function writeDelta(index: number, { type, text, thinking, signature, partial_json: input }: JsonObject): readonly ConverseEvent[] {
  switch (textOf(type) ?? '') {
    case 'text_delta':
      return [delta(index, { text })];
    case 'input_json_delta':
      return [delta(index, { toolUse: { input } })];
    case 'thinking_delta':
      return [delta(index, { reasoningContent: { text: thinking } })];
    case 'signature_delta':
      return [delta(index, { reasoningContent: { signature } })];
    default:
      return [];
  }
}
