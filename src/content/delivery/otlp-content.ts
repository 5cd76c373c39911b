import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { ContentRecord } from '../records/content-record.ts';

type Attribute = { readonly key: string; readonly value: object };

/** The event of the conventions that has prompts and replies. */
const eventName = 'gen_ai.client.inference.operation.details';

/**
 * The body of an export request of logs (https://opentelemetry.io/docs/specs/otlp/#otlphttp): one event for each call,
 * as https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md describes it.
 */
export function otlpContent(records: readonly ContentRecord[], resource: Readonly<Record<string, string>>): string {
  const attributes = Object.entries(resource).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const scopeLogs = [{ scope: { name: 'weir.content' }, logRecords: records.map(logRecord) }];
  return JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs }] });
}

function logRecord(record: ContentRecord): object {
  const { trace_id, span_id } = record;
  return {
    timeUnixNano: `${BigInt(Date.parse(record.at))}000000`,
    severityNumber: 9,
    severityText: 'INFO',
    eventName,
    attributes: attributesOf(record),
    ...(typeof trace_id === 'string' && typeof span_id === 'string' ? { traceId: trace_id, spanId: span_id } : {}),
  };
}

function attributesOf(record: ContentRecord): readonly Attribute[] {
  const output = Array.isArray(record.output_messages) ? record.output_messages : [];
  const reasons = output.flatMap((message: JsonValue) => (isJsonObject(message) ? (message.finish_reason ?? []) : []));
  const named: JsonObject = {
    'gen_ai.operation.name': record.operation,
    'gen_ai.provider.name': record.provider,
    'gen_ai.request.model': record.requested_model,
    'gen_ai.request.stream': record.stream,
    'gen_ai.response.model': record.served_model,
    'gen_ai.response.finish_reasons': reasons.length === 0 ? undefined : reasons,
    'gen_ai.system_instructions': record.system_instructions,
    'gen_ai.input.messages': record.input_messages,
    'gen_ai.output.messages': record.output_messages,
    'gen_ai.tool.definitions': record.tool_definitions,
    ...(isJsonObject(record.usage) ? record.usage : {}),
    'error.type': record.error,
    'weir.call.id': record.id,
    'weir.call.end': record.end,
    'weir.user': record.user,
    'weir.key': record.key,
    'weir.team': record.team,
    'weir.interface': record.interface,
    'weir.upstream': record.upstream,
    'weir.content.mode': record.mode,
    'weir.content.masked': record.masked,
    'weir.content.left_out': record.left_out,
    'weir.content.request': record.request,
    'weir.content.reply': record.reply,
    'weir.tags': record.tags,
  };
  return Object.entries(named).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));
}

/** A value as OTLP writes it in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
function anyValue(value: JsonValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (value === null) return {};
  if (Array.isArray(value)) return { arrayValue: { values: value.map((entry: JsonValue) => anyValue(entry)) } };
  const members = Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [{ key, value: anyValue(member) }]));
  return { kvlistValue: { values: members } };
}
