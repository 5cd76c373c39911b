import assert from 'node:assert/strict';

import { Ajv2020 } from 'ajv/dist/2020.js';

import { gatewayOpenApi } from '../../src/gateway/server/routes/open-api.ts';

type Media = { readonly schema?: object; readonly 'x-event-data'?: object };
type Described = { readonly content?: Readonly<Record<string, Media>>; readonly headers?: Readonly<Record<string, unknown>> };
type Operation = { readonly requestBody?: Described; readonly responses: Readonly<Record<string, Described>> };

const api = gatewayOpenApi() as {
  readonly components: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ components: api.components }, 'api');

/** References of the document, from outside of it. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as object;
}

/** Members without a description are an error too, because the description must be complete. */
function assertFits(schema: object, value: unknown, what: string): void {
  const validate = ajv.compile({ allOf: [absolute(schema)], unevaluatedProperties: false });
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
}

function mediaOf(described: Described, type: string, what: string): Media | undefined {
  const content = described.content ?? {};
  const name = type.split(';')[0] ?? '';
  const media = content[name] ?? content[name.replace(/\/.*/, '/*')];
  assert.ok(media !== undefined || type === '', `${what}: ${type} is not described, only ${Object.keys(content).join(', ')}`);
  return media;
}

type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

/** Asserts that an answer matches the gateway's description in status, type, headers, and every member. */
export function assertDescribed(method: string, template: string, answer: Answer): void {
  const what = `${method} ${template} ${answer.status}`;
  const operation = api.paths[template]?.[method.toLowerCase()];
  assert.ok(operation !== undefined, `${what} is not described`);
  const described = operation.responses[answer.status];
  assert.ok(described !== undefined, `${what} is not described: ${answer.text.slice(0, 300)}`);
  for (const name of Object.keys(described.headers ?? {}))
    if (/^[A-Z]/.test(name)) assert.ok(answer.headers[name.toLowerCase()] !== undefined, `${what}: no ${name}`);
  if (method === 'HEAD' || answer.text === '') return;
  const type = String(answer.headers['content-type'] ?? '');
  const media = mediaOf(described, type, what);
  if (type.startsWith('application/json')) assertFits(media?.schema ?? {}, JSON.parse(answer.text), what);
  if (!type.startsWith('text/event-stream')) return;
  const events = [...answer.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data ?? '');
  assert.ok(events.length > 0, `${what}: no events`);
  for (const data of events) assertFits(media?.['x-event-data'] ?? {}, JSON.parse(data), what);
}

/** Asserts that a request matches the description. */
export function assertRequestDescribed(method: string, template: string, type: string, value: unknown): void {
  const body = api.paths[template]?.[method.toLowerCase()]?.requestBody;
  assert.ok(body !== undefined, `${method} ${template} has no body`);
  assertFits(mediaOf(body, type, template)?.schema ?? {}, value, `request ${method} ${template}`);
}

/** Asserts that the gateway's request to a receiver matches the description. */
export function assertEventDescribed(value: unknown): void {
  const described = api.webhooks['callback-event']?.['post']?.requestBody;
  assertFits(described?.content?.['application/json']?.schema ?? {}, value, 'callback');
}
