import type { UsageReport } from '../../inference/usage.ts';
import { filledText, membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply, ReplyReport } from '../chat-dialect.ts';
import { describeErrorInReply } from '../error-in-reply.ts';
import { decodeUsage } from './decode-usage.ts';
import { countItemCharacters } from './output-items.ts';
import { ToolUses } from './tool-uses.ts';

/**
 * Reads `{code, message}` of a failed response, an `error` event or an error body.
 * @param around the event or the body, where some servers put the status
 */
export function readErrorObject(error: unknown, around?: unknown): ErrorInReply {
  const members = membersOf(error);
  const message = filledText(error) ?? filledText(members.message) ?? 'The upstream reported an error without a message.';
  return describeErrorInReply(message, members, ...(isJsonObject(around) ? [around] : []));
}

/** Usage of a response object, with the service tier and the tool uses, which the vendor reports outside `usage`. */
export function readUsage(response: JsonObject, uses: ToolUses): UsageReport | undefined {
  const report = uses.complete(decodeUsage(response.usage));
  if (report === undefined || typeof response.service_tier !== 'string') return report;
  return { ...report, serviceTier: response.service_tier };
}

/**
 * The vendor's reason for the end of the response: its status, or the reason why it is incomplete. Absent while it
 * runs.
 */
export function readStopReason(response: JsonObject): string | undefined {
  const { status, incomplete_details: details } = response;
  if (status === 'incomplete' && isJsonObject(details) && typeof details.reason === 'string') return details.reason;
  return typeof status === 'string' && status !== 'queued' && status !== 'in_progress' ? status : undefined;
}

export function outputItems(response: JsonObject): readonly unknown[] {
  return Array.isArray(response.output) ? response.output : [];
}

/**
 * A 200 without a response in it is an error. So is a failed response without output and usage, because another target
 * may answer. A failed response with output or usage is an ordinary reply: the client reads its `error`, and its usage
 * is billed.
 */
function findError(reply: JsonObject): ErrorInReply | undefined {
  if (reply.error === undefined || reply.error === null) return undefined;
  if (reply.object !== 'response') return readErrorObject(reply.error, reply);
  const empty = outputItems(reply).length === 0 && !isJsonObject(reply.usage);
  return reply.status === 'failed' && empty ? readErrorObject(reply.error) : undefined;
}

/** Reads a whole response, or an error that a server sent with a 200. */
export function readReply(reply: unknown): ReplyReport {
  if (!isJsonObject(reply)) return { outputCharacters: 0, error: { message: 'The upstream sent no JSON object.' } };
  const items = outputItems(reply);
  const uses = new ToolUses();
  for (const [index, item] of items.entries()) uses.add(item, String(index));
  const usageReport = readUsage(reply, uses);
  const stopReason = readStopReason(reply);
  const error = findError(reply);
  let outputCharacters = 0;
  for (const item of items) outputCharacters += countItemCharacters(item);
  return {
    outputCharacters,
    ...(usageReport !== undefined && { usageReport }),
    ...(typeof reply.model === 'string' && { servedModel: reply.model }),
    ...(typeof reply.id === 'string' && { replyId: reply.id }),
    ...(stopReason !== undefined && { stopReason }),
    ...(error !== undefined && { error }),
  };
}
