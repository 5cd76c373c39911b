import type { EncodedRequest } from '../../dialects/chat-codec.ts';
import type { UpstreamDialectId } from '../../dialects/dialect-id.ts';
import type { InferenceReply } from '../../inference/inference-reply.ts';
import type { InferenceRequest } from '../../inference/inference-request.ts';
import { countInput } from '../../inference/meters.ts';
import type { UsageReport } from '../../inference/usage.ts';
import { type Answer, AskError } from '../../platform/http/ask-upstream.ts';
import { explainAnswer, explainSilence, mediaTypeOf, saidIn, showWords } from './explain-failure.ts';
import { type CheckName, type CheckResult, tidyWords } from './finding.ts';
import { type Conversation, encode, readStream, readWhole, sendBody, type StreamReading } from './speak.ts';
import { suggestQuirk } from './suggest-quirk.ts';

/** The result of a check, without its name and time. */
export type Outcome = Omit<CheckResult, 'check' | 'tookMs'>;

export const good: Outcome = { verdict: 'good' };

export const bad = (says: string, advice?: string): Outcome => ({ verdict: 'bad', says, ...(advice === undefined ? {} : { advice }) });

/** A successful generation, or the outcome of the check because it failed. */
export type GenerationCheck<Success> = { readonly failed: Outcome; readonly status?: number } | ({ readonly failed?: undefined } & Success);

type Sent = { readonly answer: Answer; readonly encoded: EncodedRequest };

async function generate(conversation: Conversation, check: CheckName, request: InferenceRequest): Promise<GenerationCheck<Sent>> {
  const { checked, dialect, model, limits } = conversation;
  try {
    const encoded = encode(conversation, request);
    const answer = await sendBody(conversation, encoded.body, { operation: 'generate', streams: request.stream });
    if (answer === undefined) return { failed: { verdict: 'none', says: 'this upstream has no route for it' } };
    if (answer.status === 200) return refuseCompressed(answer) ?? { answer, encoded };
    const explained = explainAnswer(answer, dialect.id, model, checked);
    const quirk = answer.status === 400 || answer.status === 422 ? suggestQuirk(conversation, check, saidIn(answer, checked)) : undefined;
    return { failed: { verdict: 'bad', ...explained, ...(quirk === undefined ? {} : { advice: quirk }) }, status: answer.status };
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    return { failed: { verdict: 'bad', ...explainSilence(error, checked, limits.timeoutMs), ...endless(conversation, error) } };
  }
}

/** Replies are read while they are relayed, so the gateway requests no compression. */
function refuseCompressed({ headers }: Answer): { readonly failed: Outcome } | undefined {
  const coding = tidyWords(String(headers['content-encoding'] ?? 'identity'));
  if (coding === 'identity') return undefined;
  const advice = 'the gateway can read no usage in it: switch compression off in the server, or in the proxy before it';
  return { failed: bad(`the reply is compressed (${coding}), although the request did not allow it`, advice) };
}

/** Describes a stream that stays open. The gateway ends it if the dialect has an end mark, and otherwise waits. */
function endless(conversation: Conversation, error: AskError): Partial<Outcome> {
  const { partial } = error;
  if (error.code !== 'TIMEOUT' || partial === undefined || mediaTypeOf(partial) !== 'text/event-stream') return {};
  const { frames, state } = readStream(conversation, partial.body, { body: {} });
  const stand = state === 'complete' ? 'all was said' : 'it was not finished';
  return {
    says: `the stream sent ${frames} events, ${stand}, and was neither continued nor closed within ${conversation.limits.timeoutMs / 1000} s`,
  };
}

/** Requests a whole reply. */
export async function callWhole(
  conversation: Conversation,
  check: CheckName,
  request: InferenceRequest,
): Promise<GenerationCheck<{ readonly reply: InferenceReply }>> {
  const sent = await generate(conversation, check, request);
  if (sent.failed !== undefined) return sent;
  const { answer, encoded } = sent;
  const { checked, dialect, model } = conversation;
  const type = mediaTypeOf(answer);
  if (type === 'text/html') return { failed: { verdict: 'bad', ...explainAnswer(answer, dialect.id, model, checked) } };
  if (type === 'text/event-stream')
    return {
      failed: bad(
        'the request asked for a whole reply, and the answer is a stream',
        'the server ignores "stream": false; only streams can be used with it',
      ),
    };
  const reply = readWhole(conversation, answer, encoded);
  if (reply === undefined || (reply.parts.length === 0 && reply.usageReport === undefined)) {
    const words = saidIn(answer, checked);
    const advice = `does the server speak ${dialect.id} at ${checked.address}? If not, leave it out of dialects, or correct baseUrl`;
    return {
      failed: bad(
        `200 with ${answer.body.length} bytes of ${type === '' ? 'no content type' : type} that are not a reply of ${dialect.title}: ${words}`,
        advice,
      ),
    };
  }
  return { reply };
}

/** Requests a stream. The call fails if its format is wrong; the check judges its content. */
export async function callStream(
  conversation: Conversation,
  check: CheckName,
  request: InferenceRequest,
): Promise<GenerationCheck<{ readonly stream: StreamReading }>> {
  const sent = await generate(conversation, check, { ...request, stream: true });
  if (sent.failed !== undefined) return sent;
  const { answer, encoded } = sent;
  const { checked, dialect, model } = conversation;
  const type = mediaTypeOf(answer);
  if (type === 'text/html') return { failed: { verdict: 'bad', ...explainAnswer(answer, dialect.id, model, checked) } };
  if (type === 'application/json')
    return {
      failed: bad(
        'the request asked for a stream, and the answer is a whole reply',
        'the server does not stream, or a proxy before it collects the reply',
      ),
    };
  const stream = readStream(conversation, answer.body, encoded);
  const fault = findStreamFault(conversation, stream);
  if (fault !== undefined) return { failed: fault };
  if (type === 'text/event-stream') return { stream };
  return {
    failed: bad(
      `the stream comes as ${type === '' ? 'no content type' : showWords(type, checked)}, not as text/event-stream`,
      'the gateway reads only text/event-stream as a stream: correct the content-type of the server, or of the proxy before it',
    ),
  };
}

const endMarks: Readonly<Record<UpstreamDialectId, string>> = {
  'openai-chat': 'data: [DONE]',
  'openai-responses': 'response.completed',
  'anthropic-messages': 'message_stop',
  'gemini-generate-content': 'a finishReason',
  'bedrock-converse': 'messageStop',
};

function findStreamFault({ checked, dialect }: Conversation, stream: StreamReading): Outcome | undefined {
  if (stream.frames === 0) return bad('the stream is empty', 'look into the log of the server: it accepted the request and sent nothing');
  if (stream.error !== undefined || stream.state === 'failed')
    return bad(`the stream ends in an error: ${showWords(stream.error ?? 'no reason given', checked)}`, 'look into the log of the server');
  if (stream.malformedFrames > 0)
    return bad(
      `${stream.malformedFrames} of ${stream.frames} events are not JSON`,
      'the server, or a proxy that rewrites the stream, breaks its events; the gateway would end such a reply with an error',
    );
  if (stream.state === 'open')
    return bad(
      `the stream ends without its terminal mark (${endMarks[dialect.id]})`,
      'the gateway treats such a reply as truncated and reports an error to the client: update the server, or look for a proxy that closes the connection early (buffering, a short read timeout)',
    );
  if (stream.ungrammatical !== undefined)
    return bad(
      `the events are out of order: ${showWords(stream.ungrammatical, checked)}`,
      'update the server; strict clients fail on this',
    );
  return undefined;
}

/** All input tokens of a usage, cached or not. */
export function inputOf({ usage }: UsageReport): number | undefined {
  return usage.inputTokens === undefined ? undefined : countInput(usage);
}

/** The text of a reply. */
export function textOf({ parts }: InferenceReply): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}
