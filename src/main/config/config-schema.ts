import Type, { type Static } from 'typebox';

import { defaultLimits, defaultMediaBytesMax, defaultOverload, defaultRetries, defaultTimeouts } from '../../gateway/settings/limits.ts';
import { modelKindNames } from '../../inference/interfaces.ts';
import { mediaMeters, type MediaPrice, meters } from '../../inference/meters.ts';
import { dialectIds } from '../../dialects/registry.ts';
import { accountFields } from './account-fields.ts';
import { secretsSchema } from '../../upstreams/credentials/secrets/secrets-schema.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { defaultDrainTimes } from './default-drain-times.ts';
import { alertsSchema } from './alerts-schema.ts';
import { booksSchema } from './books-schema.ts';
import { callersSchema } from './callers-schema.ts';
import { contentSchema } from './content-schema.ts';
import { auditSchema } from './audit-schema.ts';
import { callbacksSchema } from './callbacks-schema.ts';
import { databaseSchema } from './database-schema.ts';
import { imagesSchema } from './images-schema.ts';
import { mediaStorageSchema } from './media-storage-schema.ts';
import { consoleSchema } from './console-schema.ts';
import { monitorSchema } from './monitor-schema.ts';
import { audioSchema } from './audio-schema.ts';
import { idempotencySchema } from './idempotency-schema.ts';
import { pricesSchema } from './prices-schema.ts';
import { creditsSchema, disconnectSchema } from './credits-schema.ts';
import { quirksSchema } from './quirks-schema.ts';
import { responsesSchema } from './responses-schema.ts';
import { rateLimitFields } from './rate-limit-fields.ts';
import { balanceSchema, ownTimeouts, targetsSchema } from './routing-schema.ts';
import { structuredOutputSchema } from './structured-output-schema.ts';
import { toolModesSchema } from './tool-modes-schema.ts';
import { tagsSchema } from './tags-schema.ts';
import { filesSchema, toolsSchema } from './tools-schema.ts';
import { videosSchema } from './videos-schema.ts';

const presetNames = Object.values(upstreamVendors).flatMap(({ presets }) => Object.keys(presets ?? {}));

const decimal = (meaning: string) => Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$', description: `${meaning}, as a decimal string` });
const price = (meaning: string) => decimal(`USD per million ${meaning}`);

const amount = Type.Optional(decimal(''));
const secondOfVideo = Type.Optional(
  Type.Record(Type.String({ pattern: '^[0-9]{3,4}p$' }), decimal('USD per second of video of this resolution'), {
    additionalProperties: false,
    description: 'Prices of a second of video by resolution. A resolution that is not listed has the highest of these prices.',
  }),
);
type MediaPriceFields = { readonly [Price in MediaPrice]: Price extends 'videoSecond' ? typeof secondOfVideo : typeof amount };

// One member for each media meter.
const mediaPriceFields = Object.fromEntries(
  mediaMeters.map((meter) => {
    const { price, priced } = meters[meter];
    return [price, price === 'videoSecond' ? secondOfVideo : Type.Optional(decimal(`USD per ${priced}`))];
  }),
) as MediaPriceFields;

const priceSchema = Type.Object(
  {
    input: Type.Optional(price('input tokens; goes together with output')),
    output: Type.Optional(price('output tokens')),
    cacheRead: Type.Optional(price('input tokens read from a cache; priced as input when absent')),
    cacheWrite5m: Type.Optional(price('input tokens written to a five-minute cache; priced as input when absent')),
    cacheWrite1h: Type.Optional(price('input tokens written to a one-hour cache; priced as input when absent')),
    inputAudio: Type.Optional(price('audio input tokens; priced as input when absent')),
    webSearch: Type.Optional(decimal('USD per web search')),
    ...mediaPriceFields,
  },
  {
    additionalProperties: false,
    description: 'Prices of calls of this model. They take precedence over the price book, which has the prices that are not given here.',
  },
);

export const upstreamSchema = Type.Object(
  {
    vendor: Type.Enum(
      Object.values(upstreamVendors).map(({ id }) => id),
      { description: 'The kind of service.' },
    ),
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description:
          "Base address, in the form that the vendor's official SDK takes. Default: the address of the vendor or of the preset. Required if neither has one.",
      }),
    ),
    ...accountFields,
    dialects: Type.Optional(
      Type.Array(Type.Enum([...dialectIds]), {
        minItems: 1,
        description: 'Interfaces that this server supports, if they differ from those of its vendor.',
      }),
    ),
    forwardHeaders: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9-]+\\*?$' }), {
        description: 'Client headers to forward besides the usual ones: names in lower case, or prefixes that end in *.',
      }),
    ),
    storedIds: Type.Optional(
      Type.Enum(['refuse', 'pass'], {
        default: 'refuse',
        description:
          'Whether requests may name objects that the vendor stores and whose owner the gateway does not know: cachedContent, containers, prompts, custom skills, spoken replies. refuse: such requests are refused; pass: every caller may use objects that other callers created there.',
      }),
    ),
    forwardReplyHeaders: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9-]+\\*?$' }), {
        description:
          'Reply headers to forward to callers besides the usual ones: names in lower case, or prefixes that end in *. Ids of the account and its rate limits (anthropic-organization-id, openai-organization, x-ratelimit-*) reach callers only if they are listed here.',
      }),
    ),
    preset: Type.Optional(
      Type.Enum(presetNames, {
        description:
          'The known server or service that an openai-compatible upstream is. It sets the quirks and, for services, the address.',
      }),
    ),
    quirks: Type.Optional(quirksSchema),
    proxy: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Proxy for connections to this upstream, http://user:password@host:port or https://…. Each connection is a tunnel (CONNECT). "none": connections are direct, and the proxies of the environment are ignored. Default: HTTPS_PROXY or HTTP_PROXY, by the scheme of the address, unless NO_PROXY names the host.',
      }),
    ),
    http2: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the gateway uses HTTP/2 if this upstream offers it. Only for https. Each call costs more CPU time.',
      }),
    ),
    discoverModels: Type.Optional(
      Type.Boolean({
        description:
          'Whether the gateway requests the list of models from an openai-compatible upstream, so that clients can use their names. Default: true if no model of this file names the upstream.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A vendor account or a model server.' },
);

const rateLimits = (description: string) => Type.Optional(Type.Object(rateLimitFields, { additionalProperties: false, description }));

const modelSchema = Type.Object(
  {
    targets: targetsSchema,
    balance: balanceSchema,
    responseState: Type.Optional(
      Type.Enum(['auto', 'gateway', 'upstream'], {
        default: 'auto',
        description:
          'Where the conversations of stored responses are kept. auto: at an upstream that stores them, with a copy in the gateway, so that a conversation can continue at any upstream; gateway: only in the gateway; upstream: only at the upstream.',
      }),
    ),
    kind: Type.Optional(
      Type.Enum([...modelKindNames], {
        description:
          'The kind of the model. Endpoints of other kinds refuse it. Default: for the vendors anthropic, gemini, openai and xai, the kind follows from the name of the model; for others, no endpoint refuses it.',
      }),
    ),
    stopSequences: Type.Optional(
      Type.Enum(['upstream', 'gateway'], {
        default: 'upstream',
        description:
          'Where translated replies end at stop sequences if the interface of the upstream does not report which sequence was found (generate-content, chat completions). upstream: the upstream ends the reply, and the client may see an ordinary end. gateway: the sequences are not sent to the upstream. The gateway cuts the reply at the sequence, names it to the client and aborts the request to the upstream.',
      }),
    ),
    tools: toolModesSchema('this model'),
    structuredOutput: structuredOutputSchema('this model'),
    timeouts: ownTimeouts("Timeouts of this model's calls. They take precedence over the general ones."),
    price: Type.Optional(priceSchema),
    limits: rateLimits(
      'Limits of all callers of this model together. Each entry has limits of its own, also if several entries lead to the same model.',
    ),
  },
  { additionalProperties: false, description: 'A model name that clients may use.' },
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
        additionalProperties: false,
        description:
          'Upstreams by name. Without any, vendor keys in the environment configure the real vendors. Without those, the simulated vendors answer.',
      }),
    ),
    models: Type.Optional(
      Type.Record(Type.String(), modelSchema, {
        description:
          'Models by the name that clients use. A name that ends in * matches every name with this prefix; the longest prefix wins. A model that is not named here goes to the upstream whose vendor has it in the price book, otherwise to an upstream that lists it.',
      }),
    ),
    prices: Type.Optional(pricesSchema),
    validation: Type.Optional(
      Type.Enum(['compatible', 'documented'], {
        default: 'compatible',
        description:
          'How requests are checked. compatible: values that the vendors accept are accepted, even beyond the documented bounds; documented: the documented bounds apply.',
      }),
    ),
    timeZone: Type.Optional(
      Type.String({ default: 'UTC', description: 'IANA time zone of the statistics. It determines when days, weeks and months begin.' }),
    ),
    monitor: Type.Optional(monitorSchema),
    console: Type.Optional(consoleSchema),
    audio: Type.Optional(audioSchema),
    idempotency: Type.Optional(idempotencySchema),
    limits: Type.Optional(
      Type.Object(
        {
          requestBytesMax: bytes('Largest request body', defaultLimits.requestBytesMax),
          replyBytesMax: bytes('Largest whole reply', defaultLimits.replyBytesMax),
          eventBytesMax: bytes('Largest event of a stream', defaultLimits.eventBytesMax),
          connectionsMax: Type.Optional(
            Type.Integer({
              minimum: 10,
              maximum: 1_000_000,
              default: defaultLimits.connectionsMax,
              description:
                'Most concurrent connections of clients. Further connections are closed at once. The file descriptors of the process are the other limit.',
            }),
          ),
          perKey: rateLimits('Limits of each key that has no such limit of its own.'),
        },
        { additionalProperties: false },
      ),
    ),
    retries: Type.Optional(
      Type.Object(
        {
          attemptsMax: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 3,
              default: defaultRetries.attemptsMax,
              description: 'Most attempts of one call, at all its targets together. 1: nothing is retried.',
            }),
          ),
          avoidFailing: Type.Optional(
            Type.Boolean({
              default: defaultRetries.avoidFailing,
              description:
                'Whether targets that keep failing, limit the rate of calls or refuse the credential come after all others until they recover. If all targets fail, they are called nevertheless. With false, the order never changes.',
            }),
          ),
          contentFilter: Type.Optional(
            Type.Enum(['stop', 'other-upstream'], {
              default: defaultRetries.contentFilter,
              description:
                'What follows when the content filter of an upstream refuses a request. stop: the client gets the refusal, because the filter may be the policy of the company; other-upstream: the next target with another upstream is called.',
            }),
          ),
          holdOpeningMs: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 600_000,
              default: defaultRetries.holdOpeningMs,
              description:
                'Longest time for which the gateway holds the headers and first events of a stream until its first content arrives. During this time, a failed attempt is retried and the client does not notice. Afterwards, a failure is sent as an error event.',
            }),
          ),
        },
        { additionalProperties: false, description: 'Retries after upstreams that fail before they have sent any content.' },
      ),
    ),
    trustedProxies: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Addresses and networks of reverse proxies. Their X-Forwarded-For header gives the address of the client: for keys that are limited to addresses, the audit log, and the limits of wrong sign-ins and billing tokens. The console and the monitor read it when they start.',
      }),
    ),
    media: Type.Optional(
      Type.Object(
        {
          privateAddresses: Type.Optional(
            Type.Boolean({
              default: false,
              description:
                'Whether requests may name images, documents and videos in private networks. The gateway then fetches them, over plain http too, or sends their addresses to the upstream. Only for networks whose clients may reach everything that the gateway and its upstreams can reach.',
            }),
          ),
          fileBytesMax: bytes('Largest file that is fetched', defaultMediaBytesMax),
        },
        {
          additionalProperties: false,
          description: 'Files that the gateway fetches from addresses in requests because the upstream cannot fetch them.',
        },
      ),
    ),
    secrets: Type.Optional(secretsSchema),
    database: Type.Optional(databaseSchema),
    mediaStorage: Type.Optional(mediaStorageSchema),
    books: Type.Optional(booksSchema),
    callbacks: Type.Optional(callbacksSchema),
    alerts: Type.Optional(alertsSchema),
    audit: Type.Optional(auditSchema),
    content: Type.Optional(contentSchema),
    files: Type.Optional(filesSchema),
    videos: Type.Optional(videosSchema),
    images: Type.Optional(imagesSchema),
    tools: Type.Optional(toolsSchema),
    moderations: Type.Optional(
      Type.Object(
        {
          standIn: Type.String({
            minLength: 1,
            description:
              'Chat model, by the name that clients use, that judges content if no upstream has the requested moderation model. Its calls are charged as chats, and their replies have a note in x-gateway-warning.',
          }),
        },
        { additionalProperties: false, description: 'Moderation of content at /v1/moderations.' },
      ),
    ),
    callers: Type.Optional(callersSchema),
    credits: Type.Optional(creditsSchema),
    tags: Type.Optional(tagsSchema),
    disconnect: Type.Optional(disconnectSchema),
    structuredOutput: structuredOutputSchema('all models without a setting of their own'),
    responses: Type.Optional(responsesSchema),
    overload: Type.Optional(
      Type.Object(
        {
          callsMax: Type.Optional(
            Type.Integer({
              minimum: 16,
              maximum: 1_000_000,
              default: defaultOverload.callsMax,
              description: 'Most concurrent calls, open streams included. A tenth is reserved for users with less than their share.',
            }),
          ),
          requestBytesInFlightMax: Type.Optional(
            Type.Integer({
              minimum: 1_048_576,
              maximum: 1_099_511_627_776,
              default: defaultOverload.requestBytesInFlightMax,
              description:
                'Most bytes of request bodies in memory. A body that is compressed or of unknown length counts as the largest that is allowed.',
            }),
          ),
          loopDelayMs: milliseconds(
            'Mean duration of an iteration of the event loop above which calls are limited to what the process can serve',
            defaultOverload.loopDelayMs,
          ),
          waitMs: milliseconds('Longest time that a call waits for a slot before it is refused', defaultOverload.waitMs),
        },
        { additionalProperties: false, description: 'The load that one gateway process accepts before it refuses calls.' },
      ),
    ),
    timeouts: Type.Optional(
      Type.Object(
        {
          connectMs: milliseconds('Time to connect to an upstream', defaultTimeouts.connectMs),
          firstByteMs: Type.Optional(
            Type.Integer({
              minimum: 10,
              maximum: 86_400_000,
              description: `Time to an upstream's status line, in milliseconds. Default: ${defaultTimeouts.firstByteMs}, and 60000 for streams of vendor models that do not reason.`,
            }),
          ),
          idleMs: milliseconds('Longest time without data within a reply', defaultTimeouts.idleMs),
          totalMs: milliseconds('Time for the whole call', defaultTimeouts.totalMs),
          stalledReaderMs: milliseconds('Longest time that a client may leave sent bytes unread', defaultTimeouts.stalledReaderMs),
          heartbeatMs: milliseconds(
            'Time without data in a stream after which the client receives a heartbeat',
            defaultTimeouts.heartbeatMs,
          ),
          drainMs: milliseconds(
            `Longest time that running calls may take at shutdown; ${defaultDrainTimes.start.graceMs} with \`weir start\``,
            defaultDrainTimes.gateway.graceMs,
          ),
          drainDelayMs: Type.Optional(
            Type.Integer({
              minimum: 0,
              default: defaultDrainTimes.gateway.delayMs,
              description:
                'Time at shutdown during which the gateway reports that it is not ready and still accepts calls, in milliseconds; 0 with `weir start` and after Ctrl-C.',
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
/** An upstream of the file, of the environment or of the simulator. */
export type ConfiguredUpstream = NonNullable<Config['upstreams']>[string];
