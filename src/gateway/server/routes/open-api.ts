import { endpoints } from '../../endpoints/registry.ts';
import type { Endpoint, EndpointRoute } from '../../endpoints/shared/endpoint.ts';
import { repeatable } from '../../endpoints/shared/open-api-parts.ts';

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

/** The largest endpoints come first among the schemas. */
const firstSchemas = ['audio', 'videos'];

type PathItem = Readonly<Record<string, unknown>>;

function describeRoute({ method, path, openApi, identifiedBy }: EndpointRoute<never>): readonly (readonly [string, PathItem])[] {
  if ('paths' in openApi) return openApi.paths().map(([name, item]) => [name, { ...item }]);
  const { operation, head, rest = 'rest' } = openApi;
  const name = path.replace('/*', `/{${rest}}`).replaceAll(/:(\w+)/g, '{$1}');
  const parameters = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => ({
    name: parameter,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const described = operation();
  return [
    [
      name,
      {
        ...(parameters.length === 0 ? {} : { parameters }),
        [method.toLowerCase()]: method === 'POST' && identifiedBy !== undefined ? repeatable(described) : described,
        ...(head === undefined ? {} : { head: head() }),
      },
    ],
  ];
}

function schemasOf(described: readonly Endpoint<never>[]): PathItem {
  const inOrder = described.toSorted((one, other) => firstSchemas.indexOf(other.name) - firstSchemas.indexOf(one.name));
  return Object.assign({}, ...inOrder.map(({ schemas }) => schemas)) as PathItem;
}

/** The OpenAPI 3.1 document of the gateway, made from its endpoints. */
export function gatewayOpenApi(): object {
  const described: readonly Endpoint<never>[] = endpoints;
  const paths: Record<string, PathItem> = {};
  for (const [name, item] of described.flatMap(({ routes }) => routes.flatMap(describeRoute))) paths[name] = { ...paths[name], ...item };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir gateway',
      version: '1',
      description:
        'Model interfaces of several vendors under one address. Request schemas are those of the documented mode; the compatible mode also accepts requests that only the vendors accept.',
    },
    paths,
    webhooks: Object.assign({}, ...described.map(({ webhooks }) => webhooks)) as PathItem,
    components: { securitySchemes, schemas: schemasOf(described) },
  };
}
