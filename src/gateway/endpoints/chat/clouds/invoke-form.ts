import type { StreamEvent } from '../../../../platform/frames.ts';
import { editMembers } from '../../../../platform/json/edit-members.ts';
import { applyJsonEdits } from '../../../../platform/json/json-edits.ts';
import { countOf, membersOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { encodeBedrockEvent } from './bedrock-events.ts';
import type { BedrockForm } from './bedrock-form.ts';

type Headers = Readonly<Record<string, string>>;

const asItIs = (text: string): string => text;
const none = (): readonly [] => [];

/** The reply to a count of tokens. */
export const countForm: BedrockForm = {
  streamHeaders: {},
  notes: none,
  encodeReply: (reply) => ({ body: Buffer.from(JSON.stringify({ inputTokens: reply['input_tokens'] })) }),
  encodeEvent: () => Buffer.alloc(0),
  exceptionOf: asItIs,
  wordError: asItIs,
};

/**
 * Replies of InvokeModel: those of Messages, with the usage in headers or in the last event.
 *
 * @param model the model as the client named it, which its replies name. Claude Code sends the thoughts of a turn back
 *   only if the turn has the name of the model that it calls, and the vendor refuses a tool loop without them.
 */
export function createInvokeForm(model: string): BedrockForm {
  let usage: JsonObject = {};
  let firstMs: number | undefined;

  /** The first event has the client's name of the model, and the last one the usage, which clients read there. */
  const complete = (event: StreamEvent, elapsedMs: number): string => {
    const { event: type, data } = event;
    if (type === 'message_start') {
      const message = membersOf(event.object()?.['message']);
      usage = membersOf(message['usage']);
      return message['model'] === undefined ? data : JSON.stringify({ ...event.object(), message: { ...message, model } });
    }
    if (type === 'message_delta') usage = { ...usage, ...membersOf(event.object()?.['usage']) };
    if (type !== 'message_stop') return data;
    const metrics = {
      ...Object.fromEntries(countsOf(usage).map(([{ metric }, count]) => [metric, count])),
      invocationLatency: elapsedMs,
      firstByteLatency: firstMs,
    };
    return JSON.stringify({ ...event.object(), 'amazon-bedrock-invocationMetrics': metrics });
  };

  return {
    streamHeaders: { 'x-amzn-bedrock-content-type': 'application/json' },
    notes: none,
    encodeReply: (reply, body, elapsedMs) => ({
      headers: { 'x-amzn-bedrock-invocation-latency': String(elapsedMs), ...countHeaders(membersOf(reply['usage'])) },
      body:
        reply['model'] === undefined
          ? body
          : applyJsonEdits(body, editMembers({ body: reply, bytes: body }, { set: { model: JSON.stringify(model) } })),
    }),
    encodeEvent: (event, elapsedMs) => {
      firstMs ??= elapsedMs;
      return encodeBedrockEvent('chunk', { bytes: Buffer.from(complete(event, elapsedMs)).toString('base64') });
    },
    exceptionOf: asItIs,
    wordError: asItIs,
  };
}

/** The counts of a reply: their names at the vendor, in the last event, and in a header. */
const reported = [
  { member: 'input_tokens', metric: 'inputTokenCount', header: 'x-amzn-bedrock-input-token-count' },
  { member: 'output_tokens', metric: 'outputTokenCount', header: 'x-amzn-bedrock-output-token-count' },
  { member: 'cache_read_input_tokens', metric: 'cacheReadInputTokenCount', header: 'x-amzn-bedrock-cache-read-input-token-count' },
  { member: 'cache_creation_input_tokens', metric: 'cacheWriteInputTokenCount', header: 'x-amzn-bedrock-cache-write-input-token-count' },
] as const;

function countsOf(usage: JsonObject): readonly (readonly [(typeof reported)[number], number])[] {
  return reported.flatMap((names) => {
    const count = countOf(usage[names.member]);
    return count === undefined ? [] : [[names, count] as const];
  });
}

function countHeaders(usage: JsonObject): Headers {
  return Object.fromEntries(countsOf(usage).map(([{ header }, count]) => [header, String(count)]));
}
