import Type, { type Static } from 'typebox';

import { rateLimitFields } from '../../accounts/access-limits.ts';
import { defaultLimits, defaultMediaBytesMax, defaultTimeouts } from '../../gateway/limits.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { defaultDrainTimes } from '../drain-times.ts';
import { quirksSchema } from './quirks-schema.ts';

const presetNames = Object.values(upstreamVendors).flatMap(({ presets }) => Object.keys(presets ?? {}));

const decimal = (meaning: string) => Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$', description: `${meaning}, as a decimal string` });

const price = (meaning: string) => decimal(`USD per million ${meaning}`);

const priceSchema = Type.Object(
  {
    input: price('input tokens'),
    output: price('output tokens'),
    cacheRead: Type.Optional(price('input tokens read from a cache; priced as input when absent')),
    cacheWrite5m: Type.Optional(price('input tokens written to a five-minute cache; priced as input when absent')),
    cacheWrite1h: Type.Optional(price('input tokens written to a one-hour cache; priced as input when absent')),
    inputAudio: Type.Optional(price('audio input tokens; priced as input when absent')),
    webSearch: Type.Optional(decimal('USD per web search')),
  },
  { additionalProperties: false, description: 'What calls of this model cost. It beats the price book.' },
);

const upstreamSchema = Type.Object(
  {
    vendor: Type.Enum(['anthropic', 'openai', 'gemini', 'xai', 'openai-compatible'], { description: 'What kind of service it is.' }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description:
          "Base address, meaning what it means in the vendor's official SDK. Default: the vendor's own, or that of the preset; otherwise required.",
      }),
    ),
    apiKey: Type.Optional(
      Type.String({ minLength: 1, description: 'Credential, best as a reference: "${NAME}". None is sent when absent.' }),
    ),
    dialects: Type.Optional(
      Type.Array(Type.Enum(['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate-content']), {
        minItems: 1,
        description: 'Interfaces that this server speaks, where it speaks more or fewer than its vendor says.',
      }),
    ),
    forwardHeaders: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9-]+\\*?$' }), {
        description: 'Client headers to pass on besides the usual ones: lower-case names, or prefixes ending in *.',
      }),
    ),
    preset: Type.Optional(
      Type.Enum(presetNames, {
        description: 'Which known server or service an openai-compatible upstream is: sets its quirks and, for services, its address.',
      }),
    ),
    quirks: Type.Optional(quirksSchema),
    discoverModels: Type.Optional(
      Type.Boolean({
        description:
          'Whether an openai-compatible upstream is asked which models it serves, so that they can be called by their own names. Default: true where no model of this file names the upstream.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A vendor account or a model server.' },
);

const rateLimits = (description: string) => Type.Optional(Type.Object(rateLimitFields, { additionalProperties: false, description }));

const modelSchema = Type.Object(
  {
    targets: Type.Array(
      Type.Object(
        {
          upstream: Type.String({ minLength: 1, description: 'Name of an upstream.' }),
          model: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Its name there. Default: the same name.' })),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, description: "Where the model's calls go: the first target that speaks the caller's interface." },
    ),
    price: Type.Optional(priceSchema),
    limits: rateLimits(
      'What all callers of this model may use together. Entries have their limits each for itself, also where they lead to one model.',
    ),
  },
  { additionalProperties: false, description: 'A model name that clients may ask for.' },
);

const milliseconds = (meaning: string, fallback: number) =>
  Type.Optional(Type.Integer({ minimum: 10, maximum: 86_400_000, default: fallback, description: `${meaning}, in milliseconds.` }));

const bytes = (meaning: string, fallback: number) =>
  Type.Optional(Type.Integer({ minimum: 1024, maximum: 1_073_741_824, default: fallback, description: `${meaning}, in bytes.` }));

/** The configuration file. docs/reference/config.md is generated from the descriptions. */
export const configSchema = Type.Object(
  {
    upstreams: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), upstreamSchema, {
        description:
          'Upstreams by name. Without any, vendor keys in the environment configure the real vendors; without those, the simulated vendors serve.',
      }),
    ),
    models: Type.Optional(
      Type.Record(Type.String(), modelSchema, {
        description:
          "Models by the name clients use. A name that ends in * takes every name that begins so; the nearest beginning wins. A model that is not named here goes to the upstream whose vendor's price book lists it, else to one that was discovered to serve it.",
      }),
    ),
    prices: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Path of a price book file that replaces the shipped one, relative to the configuration file.',
      }),
    ),
    validation: Type.Optional(
      Type.Enum(['compatible', 'documented'], {
        default: 'compatible',
        description:
          'compatible accepts what the vendors accept where the documented bounds are narrower; documented enforces them to the letter.',
      }),
    ),
    timeZone: Type.Optional(
      Type.String({ default: 'UTC', description: 'IANA zone of the statistics: where days, weeks and months begin.' }),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          requestBytesMax: bytes('Largest request body', defaultLimits.requestBytesMax),
          replyBytesMax: bytes('Largest whole reply', defaultLimits.replyBytesMax),
          eventBytesMax: bytes('Largest event of a stream', defaultLimits.eventBytesMax),
          perKey: rateLimits('What each key may use that has no such limit of its own.'),
        },
        { additionalProperties: false },
      ),
    ),
    trustedProxies: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Addresses and networks of reverse proxies. What they say of a client in X-Forwarded-For is taken for its address, where keys are limited to addresses.',
      }),
    ),
    media: Type.Optional(
      Type.Object(
        {
          privateAddresses: Type.Optional(
            Type.Boolean({
              default: false,
              description:
                'Whether images and documents that requests name by address may be fetched from private networks and over plain http. Only for networks whose clients may reach all that the gateway can.',
            }),
          ),
          fileBytesMax: bytes('Largest file that is fetched', defaultMediaBytesMax),
        },
        {
          additionalProperties: false,
          description: 'Files that a request names by address, where the upstream cannot fetch them and the gateway does.',
        },
      ),
    ),
    timeouts: Type.Optional(
      Type.Object(
        {
          connectMs: milliseconds('Time to connect to an upstream', defaultTimeouts.connectMs),
          firstByteMs: milliseconds("Time to an upstream's status line", defaultTimeouts.firstByteMs),
          idleMs: milliseconds('Silence within a reply', defaultTimeouts.idleMs),
          totalMs: milliseconds('The whole call', defaultTimeouts.totalMs),
          stalledReaderMs: milliseconds('How long a client may leave sent bytes unread', defaultTimeouts.stalledReaderMs),
          heartbeatMs: milliseconds('Silence of a stream after which the client gets a heartbeat', defaultTimeouts.heartbeatMs),
          drainMs: milliseconds(
            `How long running calls may go on at shutdown; ${defaultDrainTimes.start.graceMs} with \`weir start\``,
            defaultDrainTimes.gateway.graceMs,
          ),
          drainDelayMs: Type.Optional(
            Type.Integer({
              minimum: 0,
              default: defaultDrainTimes.gateway.delayMs,
              description:
                'How long the gateway says at shutdown that it is not ready and still takes calls, in milliseconds; 0 with `weir start` and after Ctrl-C.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false, description: 'weir.yaml. Every field is optional.' },
);

export type Config = Static<typeof configSchema>;

/** An upstream as the file, the environment or the simulator describes it. */
export type ConfiguredUpstream = NonNullable<Config['upstreams']>[string];
