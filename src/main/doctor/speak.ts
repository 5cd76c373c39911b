import type { EncodedRequest, ReplyReading, RequestFit } from '../../dialects/chat-codec.ts';
import type { UpstreamDialect } from '../../dialects/chat-dialect.ts';
import type { Operation, UpstreamDialectId } from '../../dialects/dialect-id.ts';
import { createUpstreamHeaders, shapeRequest } from '../../gateway/attempts/exchange/prepare-request.ts';
import { assertEventGrammar } from '../../inference/assert-event-grammar.ts';
import { foldEvents } from '../../inference/fold-events.ts';
import type { InferenceEvent } from '../../inference/inference-event.ts';
import type { InferenceReply } from '../../inference/inference-reply.ts';
import type { InferenceRequest } from '../../inference/inference-request.ts';
import { restoreTools } from '../../inference/restore-tools.ts';
import { createTranslationNotes } from '../../inference/translation-notes.ts';
import { createEventStreamReader } from '../../platform/event-stream/event-stream-reader.ts';
import type { Frame } from '../../platform/frames.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import { type Answer, askUpstream, type AskLimits } from '../../platform/http/ask-upstream.ts';
import type { UpstreamVendor } from '../../upstreams/upstream-vendor.ts';
import { parseBody } from './parse-body.ts';
import type { CheckedUpstream } from './checked-upstream.ts';

/** A model of an upstream in one interface, which the checks of one row examine. */
export type Conversation = {
  readonly checked: CheckedUpstream;
  readonly dialect: UpstreamDialect;
  readonly model: string;
  readonly limits: AskLimits;
  readonly newId: (prefix: string) => string;
};

/** A stream, read as the gateway reads it. */
export type StreamReading = {
  readonly reply: InferenceReply;
  readonly frames: number;
  readonly malformedFrames: number;
  readonly state: 'open' | 'complete' | 'failed';
  /** The message of the dialect's error event. */
  readonly error?: string;
  /** How the events violate the grammar of streams; undefined if they do not. */
  readonly ungrammatical?: string;
};

const frameBytesMax = 4 * 1024 * 1024;

function fitOf({ checked, dialect, model }: Conversation): RequestFit {
  const { upstream } = checked;
  return {
    upstreamModel: model,
    traits: upstream.traitsOf(model),
    proofOrigin: upstream.proofOrigin,
    notes: createTranslationNotes(dialect.codec.fieldNames, false),
  };
}

function readingOf({ checked, dialect, newId }: Conversation): ReplyReading {
  return { proofOrigin: checked.upstream.proofOrigin, newId, notes: createTranslationNotes(dialect.codec.fieldNames, false) };
}

/** The request as the gateway would write it for this upstream. */
export function encode(conversation: Conversation, request: InferenceRequest): EncodedRequest {
  return conversation.dialect.codec.encodeRequest(request, fitOf(conversation));
}

/** The request for the vendor's token counter; undefined if the dialect has none. */
export function encodeCount(conversation: Conversation, request: InferenceRequest): JsonObject | undefined {
  return conversation.dialect.codec.encodeCountRequest?.(request, fitOf(conversation));
}

/**
 * Sends a body to the route of an operation. Undefined if the upstream has no such route.
 * @throws AskError without a whole answer
 */
export async function sendBody(
  { checked, dialect, model, limits }: Conversation,
  body: JsonObject,
  { operation, streams }: { readonly operation: Operation; readonly streams: boolean },
): Promise<Answer | undefined> {
  const { upstream } = checked;
  const framing = streams ? 'sse' : undefined;
  const route = { dialect: dialect.id, operation, upstreamModel: model };
  const headers = createUpstreamHeaders(
    { operation, body, headers: {} },
    { upstream, upstreamModel: model },
    { client: dialect.id, upstream: dialect.id },
    framing,
  );
  const written = { body, bytes: Buffer.from(JSON.stringify(body)), headers };
  const shaped = shapeRequest({ upstream }, framing === undefined ? route : { ...route, framing }, written, []);
  if (shaped === undefined) return undefined;
  return inDialect(await askUpstream(upstream.client, shaped.upstreamRequest, limits), upstream.vendor, dialect.id);
}

/** An answer in the form of its dialect: binary frames and other forms of a vendor are rewritten, as in the gateway. */
function inDialect(answer: Answer, { reframe, reshapeReply }: UpstreamVendor, dialect: UpstreamDialectId): Answer {
  if (answer.status !== 200) return answer;
  if (reframe !== undefined && String(answer.headers['content-type']).startsWith('application/vnd.amazon.eventstream')) {
    const frames = createEventStreamReader({ frameBytesMax }).push(answer.body);
    const headers = { ...answer.headers, 'content-type': 'text/event-stream' };
    return { ...answer, headers, body: Buffer.concat(frames.flatMap((frame) => reframe(frame, dialect).map(({ bytes }) => bytes))) };
  }
  const reply = reshapeReply?.(parseBody(answer.body));
  return reply === undefined ? answer : { ...answer, body: Buffer.from(JSON.stringify(reply)) };
}

/** Reads a whole reply as the gateway does; undefined if it is not a reply of this dialect. */
export function readWhole(conversation: Conversation, answer: Answer, encoded: EncodedRequest): InferenceReply | undefined {
  const { dialect, checked } = conversation;
  const body = parseBody(answer.body);
  if (typeof body !== 'object' || body === null || dialect.readReply(body).error !== undefined) return undefined;
  const reply = dialect.codec.decodeReply(body, readingOf(conversation));
  const { usageReport } = reply;
  const named = { ...reply, parts: namedBack(reply, encoded) };
  return usageReport === undefined
    ? named
    : { ...named, usageReport: checked.upstream.vendor.correctUsage?.(usageReport, dialect.id) ?? usageReport };
}

function namedBack({ parts }: InferenceReply, { toolNames }: EncodedRequest): InferenceReply['parts'] {
  return parts.map((part) => (part.kind === 'tool-call' ? { ...part, name: toolNames?.get(part.name) ?? part.name } : part));
}

/** Reads a stream with the dialect's tap and codec. */
export function readStream(conversation: Conversation, body: Buffer, encoded: EncodedRequest): StreamReading {
  const { dialect, checked } = conversation;
  const tap = dialect.createStreamTap({ framing: 'sse', request: encoded.body });
  const decoder = dialect.codec.createEventDecoder(readingOf(conversation), 'sse');
  const events: InferenceEvent[] = [];
  let frames = 0;
  const { frames: all, rest } = cut(body);
  for (const frame of all) {
    if (frame.data !== '') frames += 1;
    tap.read(frame);
    events.push(...decoder.read(frame));
  }
  events.push(...decoder.end());
  const restore = restoreTools(encoded.toolNames === undefined ? {} : { toolNames: encoded.toolNames });
  const reply = foldEvents(events.flatMap((event) => restore(event)));
  const report = tap.report();
  const ungrammatical = rest > 0 ? 'it ends inside an event' : findFault(events);
  const { usageReport } = report;
  return {
    reply:
      usageReport === undefined
        ? reply
        : { ...reply, usageReport: checked.upstream.vendor.correctUsage?.(usageReport, dialect.id) ?? usageReport },
    frames,
    malformedFrames: report.malformedFrames,
    state: report.state,
    ...(report.error === undefined ? {} : { error: report.error.message }),
    ...(ungrammatical === undefined ? {} : { ungrammatical }),
  };
}

function cut(body: Buffer): { readonly frames: readonly Frame[]; readonly rest: number } {
  const reader = createSseFrameReader({ frameBytesMax });
  const frames = reader.push(body);
  return { frames, rest: reader.rest().toString().trim().length };
}

function findFault(events: readonly InferenceEvent[]): string | undefined {
  try {
    assertEventGrammar(events);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
