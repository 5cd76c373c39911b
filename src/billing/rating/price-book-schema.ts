import Type from 'typebox';
import type { MediaPrice, TokenPrice, UsePrice } from '../../inference/meters.ts';
import { decimalPattern } from './decimal.ts';

const decimal = Type.String({ pattern: decimalPattern });
const date = Type.String({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' });
const name = Type.String({ minLength: 1, maxLength: 128 });
const strict = { additionalProperties: false } as const;
/** An expression over counts, parameters and the request; docs/reference/price-book.md has the grammar. */
const expression = Type.String({ minLength: 1, maxLength: 500 });
const label = Type.String({ pattern: '^[a-z][a-z0-9_-]{0,47}$' });

/** Prices per 1,000,000 tokens, one for each meter of tokens. */
const tokenPrices = Type.Object(
  {
    input: decimal,
    inputAudio: Type.Optional(decimal),
    inputImage: Type.Optional(decimal),
    cacheRead: Type.Optional(decimal),
    cacheReadAudio: Type.Optional(decimal),
    cacheReadImage: Type.Optional(decimal),
    cacheWrite5m: Type.Optional(decimal),
    cacheWrite1h: Type.Optional(decimal),
    output: decimal,
    outputAudio: Type.Optional(decimal),
    outputImage: Type.Optional(decimal),
    /** Only if reasoning is not priced as other output. */
    reasoning: Type.Optional(decimal),
  } satisfies Record<TokenPrice, Type.TSchema>,
  strict,
);

/** The resolution of a video in requests. */
const resolution = Type.String({ pattern: '^[0-9]{3,4}p$' });

/** Prices of meters that are not tokens. */
const mediaPrices = Type.Object(
  {
    /** 1,000,000 characters of speech. */
    characters: Type.Optional(decimal),
    /** A minute of audio that is transcribed or translated; started seconds count. */
    audioMinute: Type.Optional(decimal),
    /** A minute of audio that is generated; started seconds count. */
    outputAudioMinute: Type.Optional(decimal),
    /** A second of video, by resolution. A resolution that is not listed costs as much as the most expensive. */
    videoSecond: Type.Optional(Type.Record(resolution, decimal, { ...strict, minProperties: 1 })),
    /** An image that is the input of a video. */
    inputImage: Type.Optional(decimal),
    /** A generated image. */
    outputImage: Type.Optional(decimal),
    /** A unit of a ranking, as the vendor counts it. */
    searchUnit: Type.Optional(decimal),
  } satisfies Record<MediaPrice, Type.TSchema>,
  { ...strict, minProperties: 1 },
);

/** Fees per piece. */
const fees = Type.Object(
  {
    /** One search or query as the vendor counts it. */
    web_search: Type.Optional(decimal),
    /** Once per call that searched. */
    grounded_prompt: Type.Optional(decimal),
    web_fetch: Type.Optional(decimal),
    file_search: Type.Optional(decimal),
    tool_call: Type.Optional(decimal),
    code_session: Type.Optional(decimal),
    /** Once per call with any usage. */
    call: Type.Optional(decimal),
  } satisfies Record<UsePrice | 'grounded_prompt' | 'call', Type.TSchema>,
  strict,
);

/** A factor of the prices, applied if its condition is true. */
const multiplier = Type.Object(
  {
    /** Its name in receipts. */
    name: label,
    when: Type.Optional(expression),
    /** A number or an expression. A negative value counts as 0. */
    factor: expression,
    /** The multiplied prices: tokens (default), or everything with fees and media. */
    of: Type.Optional(Type.Enum(['tokens', 'all'])),
  },
  strict,
);

/** A further line of the charge: a quantity at a price. */
const extraLine = Type.Object(
  {
    meter: label,
    when: Type.Optional(expression),
    /** The quantity, rounded up to an integer. A negative value counts as 0. */
    quantity: expression,
    price: decimal,
    /** The units of the price. Default 1. */
    per: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  },
  strict,
);

export const entrySchema = Type.Object(
  {
    vendor: name,
    model: name,
    /** Other names of the same model at the same price, matched exactly. */
    aliases: Type.Optional(Type.Array(name, { maxItems: 16 })),
    displayName: name,
    /** When the vendor released the model; if unknown, the start of the first window. */
    released: Type.Optional(date),
    /** First day (UTC) of these prices. They are valid until the next entry of the same model begins. */
    effectiveFrom: date,
    /**
     * First day (UTC) after these prices, if no other entry of the model follows at once. From then on the model has no
     * price.
     */
    effectiveUntil: Type.Optional(date),
    /**
     * The name of one of several prices of a window. The first whose condition is true applies, in the order of the
     * file, else the one without a condition, which every window has.
     */
    variant: Type.Optional(label),
    when: Type.Optional(expression),
    /**
     * The tier with the highest bound below the call's total input, cache included, prices the whole call. Absent if
     * nothing is billed in tokens.
     */
    tiers: Type.Optional(
      Type.Array(Type.Object({ inputAbove: Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 }), prices: tokenPrices }, strict), {
        minItems: 1,
        maxItems: 8,
      }),
    ),
    media: Type.Optional(mediaPrices),
    /**
     * Multipliers of the token prices by the service tier in the vendor's reply. A tier that is not listed costs the
     * list price.
     */
    serviceTiers: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }), decimal, strict)),
    multipliers: Type.Optional(Type.Array(multiplier, { maxItems: 16 })),
    fees: Type.Optional(fees),
    lines: Type.Optional(Type.Array(extraLine, { maxItems: 16 })),
    source: name,
    /** The day on which the source was read. */
    checked: date,
    note: Type.Optional(Type.String({ maxLength: 400 })),
  },
  strict,
);

export const headSchema = Type.Object(
  {
    version: Type.String({ minLength: 1, maxLength: 64 }),
    /** The currency of the file. Prices that are not in USD are converted with `usdPerUnit` when the file is read. */
    currency: Type.String({ pattern: '^([A-Z]{3}|credits)$' }),
    usdPerUnit: Type.Optional(decimal),
    entries: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 10_000 }),
  },
  strict,
);

export type TokenPrices = Type.Static<typeof tokenPrices>;
export type MediaPrices = Type.Static<typeof mediaPrices>;
export type Fees = Type.Static<typeof fees>;
export type PriceBookEntry = Type.Static<typeof entrySchema>;
/** A price book in use: in USD, whatever the currency of its file. */
export type PriceBookData = { readonly version: string; readonly currency: 'USD'; readonly entries: readonly PriceBookEntry[] };
