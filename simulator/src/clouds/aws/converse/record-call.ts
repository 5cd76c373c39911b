import { hash } from 'node:crypto';
import { redactHeaders, type CallRecord } from '../../../call-records.ts';
import { parseRecord } from '../../../read-json.ts';
import type { AwsState } from '../aws-state.ts';
import type { Invocation } from '../invocation.ts';

/** A call with its record, as calls of the simulated makers have one. */
export type RecordedInvocation = Invocation & { readonly record: CallRecord; readonly headers: Readonly<Record<string, string>> };

/** Opens the record of a call. It ends as refused if the call fails, and otherwise when its answer has been written. */
export function recordCall(state: AwsState, invocation: Invocation): RecordedInvocation {
  const { request, response, body, model, operation, fail } = invocation;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers[name] = String(value);
  const tag = headers['x-simulator-tag'];
  const requestBody = parseRecord(body);
  const record = state.records.open({
    vendor: 'bedrock',
    method: request.method ?? 'POST',
    path: request.url ?? '/',
    ...(tag !== undefined && { tag }),
    requestHeaders: redactHeaders(headers),
    requestBodySha256: hash('sha256', body),
    requestBodyBytes: body.length,
    ...(requestBody !== undefined && { requestBody }),
    requestId: 'simulated',
    model,
    receivedAtMs: state.nowMs(),
  });
  record.isStream = operation === 'converse-stream';
  response.once('close', () => state.records.end(record, 'client-closed', state.nowMs()));
  return {
    ...invocation,
    record,
    headers,
    fail: (status, type, message) => {
      record.status = status;
      state.records.end(record, 'refused', state.nowMs());
      fail(status, type, message);
    },
  };
}
