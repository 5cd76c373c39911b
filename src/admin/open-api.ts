import type { TObject, TSchema } from 'typebox';

import type { Operation } from './operation.ts';
import { uploadBytesMax } from './upload.ts';
import { problemCodes } from './problem-codes.ts';
import { apiPath } from './server/api-path.ts';

/** The OpenAPI 3.1 description of the admin API, as plain JSON data, made from the operations. */
export function adminOpenApi(operations: readonly Operation<never>[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) (paths[`${apiPath}${operation.path}`] ??= {})[operation.method.toLowerCase()] = describe(operation);
  const description = {
    openapi: '3.1.0',
    info: {
      title: 'Weir admin API',
      version: '1',
      description:
        'Everything an operator does. Money is exact, instants are UTC, absent values are null. Members and values may be added within version 1.',
    },
    paths,
    components: {
      schemas: { Problem: problemSchema },
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: '__Host-weir_session', description: 'Over http on this machine: weir_session.' },
        adminToken: { type: 'http', scheme: 'bearer', description: 'An admin token: at-weir-….' },
      },
    },
  };
  // The schemas have hidden members for their own library; the clone does not.
  return structuredClone(description);
}

const problemSchema = {
  type: 'object',
  description: 'A refusal (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id', 'retryable'],
  properties: {
    type: { type: 'string', description: 'A page about the code: `/problems/<code>`.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'The mistake, and what would be right.' },
    code: { enum: Object.keys(problemCodes) },
    request_id: { type: 'string' },
    retryable: { type: 'boolean', description: 'Whether the same request may succeed later.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          pointer: { type: 'string', description: 'JSON Pointer of the member of the body.' },
          parameter: { type: 'string', description: 'Name of the parameter of the path or the query.' },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
      },
    },
  },
} as const;

function describe(operation: Operation<never>): object {
  const {
    id,
    summary,
    access,
    recentSignIn,
    schemas,
    status = 200,
    streams,
    method,
    subject,
    versionOf,
    keyRequired,
    matchRequired,
    takesFile,
  } = operation;
  const notes = [
    ...(access === 'anybody' || access === 'signed-in' ? [] : [`Needs the permission \`${access}\`.`]),
    ...(recentSignIn === true ? ['Needs a sign-in of the last 15 minutes, or a token that was given the permission expressly.'] : []),
  ];
  const answer = { description: summary, ...(streams === undefined ? jsonContent(schemas.reply, status) : streamContent(streams)) };
  return {
    operationId: id,
    summary,
    ...(notes.length > 0 && { description: notes.join(' ') }),
    security: access === 'anybody' ? [] : [{ session: [] }, { adminToken: [] }],
    parameters: [
      ...parameters('path', schemas.params),
      ...parameters('query', schemas.query),
      ...headerParameters(method, matchRequired ?? (method !== 'POST' && (subject ?? versionOf) !== undefined), keyRequired === true),
    ],
    ...(schemas.body !== undefined && { requestBody: { required: true, content: bodyContent(schemas.body, takesFile) } }),
    responses: {
      [status]: answer,
      default: { description: 'A refusal.', content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
    },
  };
}

function bodyContent(schema: TSchema, takesFile: true | undefined): object {
  if (takesFile !== true) return { 'application/json': { schema } };
  const { properties, required = [] } = schema as { readonly properties?: object; readonly required?: readonly string[] };
  const file = { type: 'string', contentMediaType: 'application/octet-stream', description: `At most ${uploadBytesMax} bytes.` };
  return {
    'multipart/form-data': { schema: { type: 'object', properties: { ...properties, file }, required: [...required, 'file'] } },
  };
}

function jsonContent(schema: TSchema | undefined, status: number): object {
  return status === 204 || schema === undefined ? {} : { content: { 'application/json': { schema } } };
}

function streamContent(types: readonly string[]): object {
  return { content: Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }])) };
}

function parameters(place: 'path' | 'query', schema: TObject | undefined): object[] {
  if (schema === undefined) return [];
  // A schema without required members has no list of them, whatever its type says.
  const required: readonly string[] = Object.hasOwn(schema, 'required') ? schema.required : [];
  return Object.entries(schema.properties as Record<string, object>).map(([name, member]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: member,
  }));
}

function headerParameters(method: string, hasVersion: boolean, isKeyRequired: boolean): object[] {
  const header = (name: string, required: boolean, description: string): object => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  });
  const match =
    method === 'GET' || !hasVersion ? [] : [header('If-Match', true, 'The ETag of the object as you have seen it, or * for any.')];
  if (method !== 'POST') return match;
  return [header('Idempotency-Key', isKeyRequired, 'A repetition with the same key gets the first answer.'), ...match];
}
