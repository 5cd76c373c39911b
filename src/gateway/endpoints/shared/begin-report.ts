import type { Operation } from '../../../dialects/dialect-id.ts';
import type { CallLabel, CallReport } from '../../telemetry/call-report.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { EndpointRequest } from './endpoint.ts';

/** Begins the report of a request that is a call. From now on it appears in logs, metrics and traces. */
export function beginReport(
  { telemetry }: { readonly telemetry: Pick<Telemetry, 'begin'> },
  http: EndpointRequest,
  label: CallLabel,
  operation?: Operation,
): CallReport {
  const { callId, request, response } = http;
  return (http.report = telemetry.begin({ callId, dialect: label, operation, request, response }));
}
