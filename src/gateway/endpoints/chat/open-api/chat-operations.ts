import type { DialectId, Operation } from '../../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { carriers, receiptHeaders, repeatable } from '../../shared/open-api-parts.ts';

const errorStatuses = [400, 401, 404, 405, 413, 415, 500, 502, 503, 504];

const operationSummaries: Readonly<Record<Operation, string>> = {
  generate: 'generate a reply',
  compact: 'compact a conversation',
  'count-tokens': 'count input tokens (free)',
};

/** Describes a route of chats for OpenAPI. */
export function chatOperation(dialect: DialectId, operation: Operation, streams: boolean): object {
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

/** Describes a route of generate-content for OpenAPI: one path for each of its methods. */
export function generateContentPaths(path: string): readonly (readonly [string, object])[] {
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
