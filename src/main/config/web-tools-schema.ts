import Type, { type Static } from 'typebox';

/** The search services, spelled out so that the schema says what each needs. */
const providerNames = ['searxng', 'brave', 'tavily', 'exa', 'serper'] as const;

/** `tools.webSearch` */
export const webSearchSchema = Type.Object(
  {
    provider: Type.Enum([...providerNames], {
      description:
        'The search service. Without this field it is the one whose variable the environment holds: SEARXNG_URL, BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY or SERPER_API_KEY. Without any, and with simulated vendors, a simulated one serves.',
    }),
    apiKey: Type.Optional(Type.String({ minLength: 1, description: 'Its key. Required for all but searxng.' })),
    baseUrl: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Its address, which may be one of a private network and plain http. Required for searxng, whose settings must allow the format json.',
      }),
    ),
    resultsMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20, description: 'The most sources of one search, whatever the context size of a request.' }),
    ),
    pagesMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        description:
          'How many of the best pages of one search are read at most. With 0 models get what the service says of the pages and no more.',
      }),
    ),
    timeoutMs: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 120_000,
        default: 10_000,
        description: 'Time for one answer of the service, in milliseconds.',
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
        description: 'Text of all pages that a model is given at once, in characters. One page has a third of it at most.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Reading the pages that a conversation names.' },
);

/** `tools.pages` */
export const pagesSchema = Type.Object(
  {
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 120_000, default: 8_000, description: 'Time for fetching one page, in milliseconds.' }),
    ),
    bytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 50_000_000,
        default: 3_000_000,
        description: 'How much of a page is read, in bytes. Longer texts are cut, longer documents are not read.',
      }),
    ),
    trustedOrigins: Type.Optional(
      Type.Array(Type.String({ pattern: '^https?://[^/?#@\\s]+$' }), {
        description:
          'Servers whose pages may be read although they are not of the public internet: http://wiki.example:8080, or with all subdomains http://*.intranet.example. Whoever may use the tools can then read what these servers give to the gateway.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'How web pages are fetched for search and for reading. Only public addresses are fetched from.',
  },
);

export type WebSearchConfig = Static<typeof webSearchSchema>;
