import Type, { type Static } from 'typebox';

/** Literal names, so that the type of the schema has them. */
const providerNames = ['searxng', 'brave', 'tavily', 'exa', 'serper'] as const;

/** `tools.webSearch` */
export const webSearchSchema = Type.Object(
  {
    provider: Type.Enum([...providerNames], {
      description:
        'The search service. Without tools.webSearch, the service follows from a variable of the environment: SEARXNG_URL, BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY or SERPER_API_KEY. Without a variable, and with simulated vendors, a simulated service answers.',
    }),
    apiKey: Type.Optional(Type.String({ minLength: 1, description: 'Key of the service. Required for all services except searxng.' })),
    baseUrl: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Address of the service, which may be in a private network and use plain http. Required for searxng, whose settings must allow the format json.',
      }),
    ),
    resultsMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20, description: 'Most sources of one search, independent of the context size of a request.' }),
    ),
    pagesMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        description: 'Most pages of one search that are read, the best first. 0: models receive only the extracts of the service.',
      }),
    ),
    timeoutMs: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 120_000,
        default: 10_000,
        description: 'Longest time of one answer of the service, in milliseconds.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Web search by the gateway.' },
);

/** `tools.urlContext` */
export const urlContextSchema = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'Whether the gateway reads pages that a conversation names.' })),
    charactersMax: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 1_000_000,
        default: 120_000,
        description: 'Most characters of all pages that a model receives at once. One page may have a third of them.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Pages that a conversation names.' },
);

/** `tools.pages` */
export const pagesSchema = Type.Object(
  {
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 120_000, default: 8_000, description: 'Longest time to fetch one page, in milliseconds.' }),
    ),
    bytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 50_000_000,
        default: 3_000_000,
        description: 'Most bytes of a page. Longer texts are cut, longer documents are not read.',
      }),
    ),
    trustedOrigins: Type.Optional(
      Type.Array(Type.String({ pattern: '^https?://[^/?#@\\s]+$' }), {
        description:
          'Servers outside the public internet whose pages may be read: http://wiki.example:8080, or http://*.intranet.example for all subdomains. Every caller that may use the tools can then read everything that these servers return to the gateway.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Web pages that the gateway fetches for search and for reading. Addresses must be public.',
  },
);

export type WebSearchConfig = Static<typeof webSearchSchema>;
