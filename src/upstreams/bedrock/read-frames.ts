import type { UpstreamDialectId } from '../../dialects/dialect-id.ts';
import { Frame, StreamEvent } from '../../platform/frames.ts';
import { filledText, membersOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { mentionsGuardrail, readGuardrailEvent } from './guardrail-replies.ts';

/**
 * Exceptions within a stream, and the types of Anthropic's errors that clients know. Source: "ResponseStream" of the
 * Bedrock API reference.
 */
const errorTypes: Readonly<Record<string, string>> = {
  internalserverexception: 'api_error',
  modelstreamerrorexception: 'api_error',
  modeltimeoutexception: 'timeout_error',
  serviceunavailableexception: 'overloaded_error',
  throttlingexception: 'rate_limit_error',
  validationexception: 'invalid_request_error',
};

/**
 * Writes a binary frame as a server-sent event. InvokeModel: the event of Anthropic that a `chunk` has in base64, and
 * an exception as an error event; other frames say nothing. Converse: the event as it is, under its name.
 */
export function reframe(frame: Frame, dialect: UpstreamDialectId): readonly Frame[] {
  const { event = '' } = frame;
  if (dialect === 'bedrock-converse') return [asEvent(event, frame.data)];
  if (dialect !== 'anthropic-messages') return [frame];
  const failed = /^(?:exception|error):(.*)$/.exec(event)?.[1];
  if (failed !== undefined) return [asEvent('error', JSON.stringify(errorOf(failed, frame)))];
  const bytes = filledText(frame.object()?.bytes);
  if (event !== 'chunk' || bytes === undefined) return [new Frame(Buffer.from(': \n\n'), undefined, '')];
  const data = Buffer.from(bytes, 'base64').toString();
  const told = mentionsGuardrail(data) ? objectIn(data) : undefined;
  if (told !== undefined) return readGuardrailEvent(told).map((each) => asEvent(filledText(each.type), JSON.stringify(each)));
  const type = /^\{\s*"type"\s*:\s*"([a-z_]+)"/.exec(data)?.[1] ?? filledText(objectIn(data)?.type);
  return [asEvent(type, data)];
}

const objectIn = (data: string): JsonObject | undefined => new StreamEvent(undefined, data).object();

function asEvent(type: string | undefined, data: string): Frame {
  // A line end would begin a second field; JSON has none that is not white space.
  const line = data.replace(/[\r\n]+/g, ' ');
  return new Frame(Buffer.from(`${type === undefined ? '' : `event: ${type}\n`}data: ${line}\n\n`), type, line);
}

function errorOf(kind: string, frame: Frame): object {
  const message = filledText(membersOf(frame.object()).message) ?? kind;
  return { type: 'error', error: { type: errorTypes[kind.toLowerCase()] ?? 'api_error', message } };
}
