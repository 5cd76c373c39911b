import type { DialectId, Operation } from '../../../../dialects/dialect-id.ts';
import { carriers, receiptHeaders, repeatable } from '../../shared/open-api-parts.ts';

const pathParameters = (path: string): readonly object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));

const errorStatuses = [400, 401, 403, 404, 429, 500, 503];

type CloudPath = {
  readonly path: string;
  readonly summary: string;
  readonly operation: Operation;
  /** The media types of the reply. */
  readonly replies: readonly string[];
};

function describe({ path, summary, operation, replies }: CloudPath): readonly [string, object] {
  const isPaid = operation !== 'count-tokens';
  const post = {
    summary,
    security: carriers,
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    responses: {
      200: {
        description: "The reply, in the cloud's form.",
        content: Object.fromEntries(replies.map((type) => [type, {}])),
        ...(isPaid ? { headers: receiptHeaders } : {}),
      },
      ...Object.fromEntries(
        errorStatuses.map((status) => [status, { description: "See docs/reference/errors.md. Body in the cloud's form." }]),
      ),
    },
  };
  return [path, { parameters: pathParameters(path), post: repeatable(post) }];
}

const json = 'application/json';
const eventStream = 'application/vnd.amazon.eventstream';
const sse = 'text/event-stream';

/** Describes the paths of Bedrock for OpenAPI. */
export function bedrockPaths(): readonly (readonly [string, object])[] {
  const model = '/model/{model}';
  return [
    describe({ path: `${model}/invoke`, summary: 'Messages, as Bedrock’s InvokeModel', operation: 'generate', replies: [json] }),
    describe({
      path: `${model}/invoke-with-response-stream`,
      summary: 'Messages, streamed in binary frames as by Bedrock',
      operation: 'generate',
      replies: [eventStream],
    }),
    describe({ path: `${model}/converse`, summary: 'Converse, as Bedrock has it', operation: 'generate', replies: [json] }),
    describe({
      path: `${model}/converse-stream`,
      summary: 'Converse, streamed in binary frames as by Bedrock',
      operation: 'generate',
      replies: [eventStream],
    }),
    describe({ path: `${model}/count-tokens`, summary: 'count input tokens, as Bedrock does', operation: 'count-tokens', replies: [json] }),
  ];
}

/** The methods of a publisher's models, and the interface that they speak. */
const vertexMethods: readonly {
  readonly publisher: DialectId;
  readonly path: string;
  readonly summary: string;
  readonly isCount?: true;
}[] = [
  { publisher: 'anthropic-messages', path: 'anthropic/models/{model}:rawPredict', summary: 'Messages, as Vertex AI has it' },
  {
    publisher: 'anthropic-messages',
    path: 'anthropic/models/{model}:streamRawPredict',
    summary: 'Messages, streamed, as Vertex AI has it',
  },
  {
    publisher: 'gemini-generate-content',
    path: 'google/models/{model}:generateContent',
    summary: 'Generate-content, on the path of Vertex AI',
  },
  { publisher: 'gemini-generate-content', path: 'google/models/{model}:streamGenerateContent', summary: 'Generate-content, streamed' },
  { publisher: 'gemini-generate-content', path: 'google/models/{model}:countTokens', summary: 'count input tokens (free)', isCount: true },
];

/** Describes the paths of Vertex AI below one version for OpenAPI. */
export function vertexPaths(route: string): readonly (readonly [string, object])[] {
  const isProject = route.includes('/projects/');
  const base = route.replace(/(?:projects|publishers)\/\*$/, isProject ? 'projects/{project}/locations/{location}/' : '');
  const methods = isProject ? vertexMethods : vertexMethods.filter(({ publisher }) => publisher === 'gemini-generate-content');
  const paths = methods.map(({ path, summary, isCount }) => {
    const replies = /stream/i.test(path) ? [json, sse] : [json];
    return describe({ path: `${base}publishers/${path}`, summary, operation: isCount === true ? 'count-tokens' : 'generate', replies });
  });
  if (!isProject) return paths;
  const path = `${base}endpoints/openapi/chat/completions`;
  return [...paths, describe({ path, summary: 'Chat completions, on the path of Vertex AI', operation: 'generate', replies: [json, sse] })];
}
