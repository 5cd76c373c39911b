import {
  billingRecordSchema,
  billingRequestSchema,
  callRecordSchema,
  healthSchema,
  livenessSchema,
  refusalSchema,
  statsReplySchema,
  textRequestSchema,
  workbookRequestSchema,
} from './schemas.ts';

const refusals: Readonly<Record<string, string>> = {
  400: 'The body or a field of it is not valid, or the answer would exceed the limits.',
  401: 'The token is missing or invalid, or there are two different ones.',
  413: 'The body is too large.',
  415: 'Content-Type is not application/json.',
  429: 'Too many requests with this token, or too many invalid tokens from this address. Retry after the seconds of Retry-After.',
  500: 'The monitor failed.',
  503: 'The store does not answer or too many requests wait. Retry after the seconds of Retry-After.',
};

/** The OpenAPI 3.1 description of the monitor, as plain JSON data. */
export function monitorOpenApi(): object {
  const description = {
    openapi: '3.1.0',
    info: { title: 'Weir monitor', version: '1', description: 'Billing statistics: usage per bucket of time.' },
    paths: {
      '/bill/stats': { post: billingOperation('billStats', 'Aggregated usage statistics', 'BillingRequest', statsSuccess()) },
      '/bill/excel': { post: billingOperation('billExcel', 'The same statistics as a workbook', 'WorkbookRequest', workbookSuccess()) },
      '/bill/csv': { post: billingOperation('billCsv', 'The same statistics, or the calls, as CSV', 'TextRequest', csvSuccess()) },
      '/bill/jsonl': {
        post: billingOperation('billJsonl', 'The same statistics, or the calls, as JSON Lines', 'TextRequest', linesSuccess()),
      },
      '/health': { get: healthOperation('health') },
      '/health/ready': { get: healthOperation('healthReady') },
      '/health/live': { get: livenessOperation() },
    },
    components: {
      schemas: {
        BillingRequest: billingRequestSchema,
        TextRequest: textRequestSchema,
        WorkbookRequest: workbookRequestSchema,
        BillingRecord: billingRecordSchema,
        CallRecord: callRecordSchema,
        StatsReply: statsReplySchema,
        Refusal: refusalSchema,
        Health: healthSchema,
        Liveness: livenessSchema,
      },
      securitySchemes: { billingToken: { type: 'apiKey', in: 'header', name: 'token', description: 'A billing token.' } },
    },
  };
  // The schemas have hidden members for their own library; the clone does not.
  return structuredClone(description);
}

function billingOperation(operationId: string, summary: string, request: string, success: object): object {
  return {
    operationId,
    summary,
    security: [{ billingToken: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: reference(request) } } },
    responses: { 200: success, ...refusalResponses() },
  };
}

function statsSuccess(): object {
  return { description: 'The records. Large answers are streamed.', content: { 'application/json': { schema: reference('StatsReply') } } };
}

function workbookSuccess(): object {
  return {
    description:
      'A workbook: sheet Bill with one row per record, Calls with one row per call if detail is true, and About with the query, the totals and the meaning of the columns. ' +
      'Its file name is in Content-Disposition.',
    headers: fileName('bill_20260127_20260129_day.xlsx'),
    content: {
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': {
        schema: { type: 'string', contentMediaType: 'application/octet-stream' },
      },
    },
  };
}

function csvSuccess(): object {
  return {
    description:
      'CSV by RFC 4180 in UTF-8 without a byte order mark, field names first. A text that a spreadsheet program might read as a formula has an apostrophe in front.',
    headers: fileName('bill_20260127_20260129_day.csv'),
    content: { 'text/csv': { schema: { type: 'string' } } },
  };
}

function linesSuccess(): object {
  return {
    description: 'One JSON object per line.',
    headers: fileName('bill_20260127_20260129_day.jsonl'),
    content: { 'application/jsonl': { schema: { anyOf: [reference('BillingRecord'), reference('CallRecord')] } } },
  };
}

function fileName(example: string): object {
  return { 'Content-Disposition': { schema: { type: 'string' }, example: `attachment; filename="${example}"` } };
}

function healthOperation(operationId: string): object {
  const content = { 'application/json': { schema: reference('Health') } };
  return {
    operationId,
    summary: 'Whether the monitor can answer',
    security: [],
    responses: {
      200: { description: 'The monitor can answer.', content },
      503: { description: 'The monitor cannot answer at the moment.', content },
    },
  };
}

function livenessOperation(): object {
  return {
    operationId: 'healthLive',
    summary: 'Whether the process runs, whatever the state of its dependencies',
    security: [],
    responses: { 200: { description: 'It runs.', content: { 'application/json': { schema: reference('Liveness') } } } },
  };
}

function refusalResponses(): object {
  return Object.fromEntries(
    Object.entries(refusals).map(([status, description]) => [
      status,
      { description, content: { 'application/json': { schema: reference('Refusal') } } },
    ]),
  );
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}
