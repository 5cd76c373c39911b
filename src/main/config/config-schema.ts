import Type, { type Static } from 'typebox';

import { defaultLimits, defaultMediaBytesMax, defaultOverload, defaultRetries, defaultTimeouts } from '../../gateway/settings/limits.ts';
import { modelKindNames } from '../../inference/interfaces.ts';
import { mediaMeters, type MediaPrice, meters } from '../../inference/meters.ts';
import { dialectIds } from '../../dialects/registry.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { defaultDrainTimes } from './default-drain-times.ts';
import { callbacksSchema } from './callbacks-schema.ts';
import { databaseSchema } from './database-schema.ts';
import { imagesSchema } from './images-schema.ts';
import { mediaStorageSchema } from './media-storage-schema.ts';
import { monitorSchema } from './monitor-schema.ts';
import { audioSchema } from './audio-schema.ts';
import { idempotencySchema } from './idempotency-schema.ts';
import { pricesSchema } from './prices-schema.ts';
import { creditsSchema, disconnectSchema } from './credits-schema.ts';
import { quirksSchema } from './quirks-schema.ts';
import { rateLimitFields } from './rate-limit-fields.ts';
import { balanceSchema, ownTimeouts, targetsSchema } from './routing-schema.ts';
import { structuredOutputSchema } from './structured-output-schema.ts';
import { toolModesSchema } from './tool-modes-schema.ts';
import { filesSchema, toolsSchema } from './tools-schema.ts';
import { videosSchema } from './videos-schema.ts';

const presetNames = Object.values(upstreamVendors).flatMap(({ presets }) => Object.keys(presets ?? {}));

const decimal = (meaning: string) => Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$', description: `${meaning}, as a decimal string` });

const price = (meaning: string) => decimal(`USD per million ${meaning}`);

const amount = Type.Optional(decimal(''));
const secondOfVideo = Type.Optional(
  Type.Record(Type.String({ pattern: '^[0-9]{3,4}p$' }), decimal('USD per second of video of this resolution'), {
    additionalProperties: false,
    description: 'Prices of a second of video by resolution. One that is not listed costs what the dearest does.',
  }),
);
type MediaPriceFields = { readonly [Price in MediaPrice]: Price extends 'videoSecond' ? typeof secondOfVideo : typeof amount };

// The members are those of the meters.
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
    description: 'What calls of this model cost. It beats the price book, which prices what is not named here.',
  },
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
    apiKeys: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        maxItems: 64,
        description: 'Several credentials of one account, in place of apiKey. Calls are shared among them.',
      }),
    ),
    dialects: Type.Optional(
      Type.Array(Type.Enum([...dialectIds]), {
        minItems: 1,
        description: 'Interfaces that this server speaks, where it speaks more or fewer than its vendor says.',
      }),
    ),
    forwardHeaders: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9-]+\\*?$' }), {
        description: 'Client headers to pass on besides the usual ones: lower-case names, or prefixes ending in *.',
      }),
    ),
    storedIds: Type.Optional(
      Type.Enum(['refuse', 'pass'], {
        default: 'refuse',
        description:
          'What becomes of requests that name something which the vendor keeps and whose owner the gateway does not know: cachedContent, containers, prompts, custom skills, spoken replies. With pass, every caller may use what any other has made there.',
      }),
    ),
    forwardReplyHeaders: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9-]+\\*?$' }), {
        description:
          'Reply headers to pass to callers besides the usual ones: lower-case names, or prefixes ending in *. Ids of the account and its rate limits (anthropic-organization-id, openai-organization, x-ratelimit-*) reach callers only if they are listed here.',
      }),
    ),
    preset: Type.Optional(
      Type.Enum(presetNames, {
        description: 'Which known server or service an openai-compatible upstream is: sets its quirks and, for services, its address.',
      }),
    ),
    quirks: Type.Optional(quirksSchema),
    proxy: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Proxy through which this upstream is reached, http://user:password@host:port or https://…: each connection is a tunnel (CONNECT). "none" reaches it directly, whatever the environment names. Default: HTTPS_PROXY or HTTP_PROXY, by the scheme of the address, unless NO_PROXY names the host.',
      }),
    ),
    http2: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether HTTP/2 is spoken with this upstream where it offers it. Only for https. It costs more CPU for each call.',
      }),
    ),
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
    targets: targetsSchema,
    balance: balanceSchema,
    responseState: Type.Optional(
      Type.Enum(['auto', 'gateway', 'upstream'], {
        default: 'auto',
        description:
          'Where the conversations of stored responses are kept. auto: at the upstream while a conversation stays with one that keeps it, and in a copy here with which it can go on anywhere; gateway: here alone, nothing is stored upstream; upstream: there alone.',
      }),
    ),
    kind: Type.Optional(
      Type.Enum([...modelKindNames], {
        description:
          'What the model is for. A model that is known to be made for something else is refused at the endpoints of the other kinds; without this it is known by its name, of the vendors anthropic, gemini, openai and xai alone.',
      }),
    ),
    stopSequences: Type.Optional(
      Type.Enum(['upstream', 'gateway'], {
        default: 'upstream',
        description:
          'Who ends a translated reply at a stop sequence where the interface of the upstream does not tell which one ended it (generate-content, chat completions). upstream: the upstream does, and the client is told what it says, so a stop may look like an ordinary end; gateway: the upstream is not told of them, the gateway cuts the reply exactly there, names the sequence and stops the upstream.',
      }),
    ),
    tools: toolModesSchema('this model'),
    structuredOutput: structuredOutputSchema('this model'),
    timeouts: ownTimeouts("Timeouts of this model's calls. They beat those for all."),
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
        additionalProperties: false,
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
    prices: Type.Optional(pricesSchema),
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
    monitor: Type.Optional(monitorSchema),
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
                'Connections of clients at a time. More are closed as they come; the file descriptors of the process are the other limit.',
            }),
          ),
          perKey: rateLimits('What each key may use that has no such limit of its own.'),
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
              description: 'Attempts of one call altogether, at all its targets. 1: nothing is tried again.',
            }),
          ),
          avoidFailing: Type.Optional(
            Type.Boolean({
              default: defaultRetries.avoidFailing,
              description:
                'Whether targets that keep failing, limit the rate of calls or refuse the credential come after all others until they work again. If none works, they are called all the same. With false the order never changes.',
            }),
          ),
          holdOpeningMs: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 600_000,
              default: defaultRetries.holdOpeningMs,
              description:
                "For how long a stream's headers and opening events wait for its first content at most. Until then a failed attempt is repeated without the client noticing; afterwards a failure is told as an error event.",
            }),
          ),
        },
        { additionalProperties: false, description: 'What is done about upstreams that fail before they have said anything.' },
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
                'Whether requests may name images, documents and videos in private networks: the gateway then fetches them, over plain http too, or sends their addresses to the upstream. Only for networks whose clients may reach all that the gateway and its upstreams can.',
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
    database: Type.Optional(databaseSchema),
    mediaStorage: Type.Optional(mediaStorageSchema),
    callbacks: Type.Optional(callbacksSchema),
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
              'Chat model, by the name that clients use, that judges content where no upstream has the moderation model that was asked for. Its calls are charged as the chats that they are, and their replies say so in x-gateway-warning.',
          }),
        },
        { additionalProperties: false, description: 'Judging content at /v1/moderations.' },
      ),
    ),
    credits: Type.Optional(creditsSchema),
    disconnect: Type.Optional(disconnectSchema),
    structuredOutput: structuredOutputSchema('all models that say nothing else'),
    responses: Type.Optional(
      Type.Object(
        {
          retentionDays: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 36_500,
              default: 30,
              description:
                'Days for which stored responses are kept, and conversations after their last change. 0: nothing is stored. A key may have a time of its own.',
            }),
          ),
        },
        { additionalProperties: false, description: 'Responses that are kept, so that a later request can go on from them.' },
      ),
    ),
    overload: Type.Optional(
      Type.Object(
        {
          callsMax: Type.Optional(
            Type.Integer({
              minimum: 16,
              maximum: 1_000_000,
              default: defaultOverload.callsMax,
              description: 'Calls under way at a time, open streams included. A tenth is kept for users that have less than their share.',
            }),
          ),
          requestBytesInFlightMax: Type.Optional(
            Type.Integer({
              minimum: 1_048_576,
              maximum: 1_099_511_627_776,
              default: defaultOverload.requestBytesInFlightMax,
              description:
                'Request bodies held in memory at a time, in bytes. Bodies of unknown or compressed length count as the largest that is allowed.',
            }),
          ),
          loopDelayMs: milliseconds(
            'Mean length of a turn of the event loop beyond which calls are limited to what the process can serve',
            defaultOverload.loopDelayMs,
          ),
          waitMs: milliseconds('How long a call may wait for a place before it is refused', defaultOverload.waitMs),
        },
        { additionalProperties: false, description: 'How much one gateway process takes on, and when it refuses calls.' },
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
              description: `Time to an upstream's status line, in milliseconds. Default: ${defaultTimeouts.firstByteMs}, and 60000 for streams of vendors' models that do not think.`,
            }),
          ),
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
