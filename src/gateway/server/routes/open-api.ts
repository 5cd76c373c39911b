import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { audioOperation } from '../../endpoints/audio/open-api/audio-operations.ts';
import { audioSchemas } from '../../endpoints/audio/open-api/audio-schemas.ts';
import { callbackOperation, callbackSchemas, webhooks } from '../../endpoints/account/open-api/callback-operations.ts';
import { carriers, repeatable } from '../../endpoints/shared/open-api-parts.ts';
import { creditsOperation, creditsSchemas } from '../../endpoints/account/open-api/credits-operations.ts';
import { quoteOperation, quoteSchemas } from '../../endpoints/quotes/open-api/quote-operations.ts';
import { receiptHeaders, receiptOperation, receiptSchemas } from '../../endpoints/account/open-api/receipt-operations.ts';
import { videoHeadOperation, videoOperation } from '../../endpoints/videos/open-api/video-operations.ts';
import { videoSchemas } from '../../endpoints/videos/open-api/video-schemas.ts';
import { type Route, routes } from '../../endpoints/route-table.ts';

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'Every carrier works on every endpoint; two different keys in one request are refused.',
  },
  apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  googleKeyHeader: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
  keyQuery: { type: 'apiKey', in: 'query', name: 'key' },
};

const errorStatuses = [400, 401, 404, 405, 413, 415, 500, 502, 503, 504];

const operationSummaries: Readonly<Record<Operation, string>> = {
  generate: 'generate a reply',
  compact: 'compact a conversation',
  'count-tokens': 'count input tokens (free)',
};

function chatOperation(dialect: DialectId, operation: Operation, streams: boolean): object {
  const { title, requestSchema } = chatDialects[dialect];
  const json = { 'application/json': {} };
  return {
    summary: `${title}: ${operationSummaries[operation]}`,
    security: carriers,
    requestBody: { required: true, content: { 'application/json': { schema: requestSchema(operation, 'documented') } } },
    responses: {
      200: {
        description: "The upstream's reply, unchanged.",
        content: streams ? { ...json, 'text/event-stream': {} } : json,
        ...(operation === 'count-tokens' ? {} : { headers: receiptHeaders }),
      },
      ...Object.fromEntries(
        errorStatuses.map((status) => [status, { description: `See docs/reference/errors.md. Body in the ${title} error shape.` }]),
      ),
    },
  };
}

/** By object and action. */
const storedSummaries: Readonly<Record<string, string>> = {
  'response show': 'A stored response; `include` asks for more of its items',
  'response delete': 'Deletes a stored response',
  'response cancel': 'Cancels a response that is generated in the background',
  'response list-input-items': 'The items that were its input, those of earlier responses included',
  'conversation create': 'Creates a conversation',
  'conversation show': 'A conversation',
  'conversation update': 'Replaces its metadata',
  'conversation delete': 'Deletes a conversation and its items',
  'item list': 'The items of a conversation',
  'item add': 'Adds up to 20 items at its end',
  'item show': 'One item',
  'item delete': 'Deletes one item',
};

function describeRoute(route: Exclude<Route, { type: 'generate-content' }>): object {
  switch (route.type) {
    case 'chat':
      return chatOperation(route.dialect, route.operation, route.operation === 'generate');
    case 'models':
      return {
        summary: "List models, in the shape of the caller's SDK (by anthropic-version or x-goog-api-key)",
        security: carriers,
        responses: { 200: { description: 'The list.' } },
      };
    case 'model':
      return {
        summary: 'One model',
        security: carriers,
        responses: { 200: { description: 'The model.' }, 404: { description: 'Unknown model.' } },
      };
    case 'stored':
      return {
        summary: storedSummaries[`${route.stored.object} ${route.stored.action}`] ?? '',
        security: carriers,
        responses: {
          200: { description: 'The object, or what became of it.' },
          ...Object.fromEntries([400, 401, 404, 503].map((status) => [status, { description: 'See docs/reference/errors.md.' }])),
        },
      };
    case 'health':
      return {
        summary: `Health (${route.probe})`,
        responses: {
          200: {
            description: route.probe === 'all' ? 'Serving. `targets` lists those that calls went to lately, with their state.' : 'Serving.',
          },
          ...(route.probe === 'live' ? {} : { 503: { description: 'Should get no traffic; `reasons` says why.' } }),
        },
      };
    case 'callbacks':
      return callbackOperation(route.action);
    case 'embeddings':
      return {
        summary: 'Make embeddings',
        security: carriers,
        responses: { 200: { description: 'The vectors, in the order of the input.' } },
      };
    case 'audio':
      return audioOperation(route.operation);
    case 'quote':
      return quoteOperation();
    case 'credits':
      return creditsOperation();
    case 'receipt':
      return receiptOperation();
    case 'files':
      return {
        summary: 'Files and vector stores of the caller, as docs/guide/files.md describes them',
        security: carriers,
        responses: { 200: { description: 'As the vendor answers it.' }, 404: { description: "Unknown, or another user's." } },
      };
    case 'videos':
      return videoOperation(route.action);
    case 'root':
      return { summary: 'What this is', responses: { 200: { description: 'Name and main paths.' } } };
  }
}

function generateContentPaths(path: string): readonly (readonly [string, object])[] {
  const model = path.replace('/*', '/{model}');
  const parameters = [{ name: 'model', in: 'path', required: true, schema: { type: 'string' } }];
  const dialect = 'gemini-generate-content';
  return [
    [`${model}:generateContent`, { parameters, post: repeatable(chatOperation(dialect, 'generate', false)) }],
    [
      `${model}:streamGenerateContent`,
      {
        parameters: [
          ...parameters,
          {
            name: 'alt',
            in: 'query',
            schema: { type: 'string', enum: ['sse'] },
            description: 'Server-sent events; without it one JSON array, streamed.',
          },
        ],
        post: repeatable(chatOperation(dialect, 'generate', true)),
      },
    ],
    [`${model}:countTokens`, { parameters, post: repeatable(chatOperation(dialect, 'count-tokens', false)) }],
  ];
}

/** The OpenAPI 3.1 document of the gateway, made from the route table and the dialects' request schemas. */
export function gatewayOpenApi(): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { method, path, route } of routes) {
    if (route.type === 'generate-content') {
      for (const [name, item] of generateContentPaths(path)) paths[name] = { ...paths[name], ...item };
      continue;
    }
    const name = path.replace('/*', route.type === 'files' ? '/{rest}' : '/{model}').replaceAll(/:(\w+)/g, '{$1}');
    const named = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const parameters =
      named.length === 0
        ? {}
        : { parameters: named.map((parameter) => ({ name: parameter, in: 'path', required: true, schema: { type: 'string' } })) };
    const head = route.type === 'videos' && route.action === 'content' ? { head: videoHeadOperation() } : {};
    const described = describeRoute(route);
    // Videos say themselves what is the same of them.
    const operation = method === 'POST' && route.type !== 'videos' ? repeatable(described) : described;
    paths[name] = { ...paths[name], ...parameters, [method.toLowerCase()]: operation, ...head };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir gateway',
      version: '1',
      description:
        'Model interfaces of several vendors under one address. Request schemas are those of the documented mode; the compatible mode accepts what the vendors accept besides.',
    },
    paths,
    webhooks,
    components: {
      securitySchemes,
      schemas: { ...videoSchemas, ...audioSchemas, ...callbackSchemas, ...receiptSchemas, ...quoteSchemas, ...creditsSchemas },
    },
  };
}
