import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { decimalPattern } from './decimal.ts';

const decimal = Type.String({ pattern: decimalPattern });
const date = Type.String({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' });
const name = Type.String({ minLength: 1, maxLength: 128 });
const strict = { additionalProperties: false } as const;

/** Prices in USD per 1,000,000 tokens. A new token meter is a line here and a row in `token-lines.ts`. */
const tokenPrices = Type.Object(
  {
    input: decimal,
    inputAudio: Type.Optional(decimal),
    cacheRead: Type.Optional(decimal),
    cacheReadAudio: Type.Optional(decimal),
    cacheWrite5m: Type.Optional(decimal),
    cacheWrite1h: Type.Optional(decimal),
    output: decimal,
    outputAudio: Type.Optional(decimal),
  },
  strict,
);

/** The resolution of a video as requests name it. */
const resolution = Type.String({ pattern: '^[0-9]{3,4}p$' });

/** Prices in USD of what is not counted in tokens. A new meter is a line here and in `media-lines.ts`. */
const mediaPrices = Type.Object(
  {
    /** 1,000,000 characters that are read out. */
    characters: Type.Optional(decimal),
    /** A minute of sound that is transcribed or translated; started seconds count. */
    audioMinute: Type.Optional(decimal),
    /** A second of video, by its resolution. One that is not listed costs what the dearest does. */
    videoSecond: Type.Optional(Type.Record(resolution, decimal, { minProperties: 1 })),
    /** A picture that a video is made from. */
    inputImage: Type.Optional(decimal),
  },
  { ...strict, minProperties: 1 },
);

const entrySchema = Type.Object(
  {
    vendor: name,
    model: name,
    /** Other names of the same model at the same price, matched exactly. */
    aliases: Type.Optional(Type.Array(name, { maxItems: 16 })),
    displayName: name,
    /** When the vendor released the model; absent where that is not known, and then the first window's start stands in. */
    released: Type.Optional(date),
    /** First day (UTC) on which these prices hold. They hold until the next entry of the same model begins. */
    effectiveFrom: date,
    /** The tier with the highest bound below the call's total input, cache included, prices the whole call. Absent where nothing is billed by tokens. */
    tiers: Type.Optional(
      Type.Array(Type.Object({ inputAbove: Type.Integer({ minimum: 0 }), prices: tokenPrices }, strict), { minItems: 1, maxItems: 8 }),
    ),
    media: Type.Optional(mediaPrices),
    /** Multipliers of the token prices by the service tier that the vendor says it used. A tier that is not named costs the list price. */
    serviceTiers: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }), decimal)),
    /** Prices in USD per unit. `web_search`: one search or query as the vendor counts it. `grounded_prompt`: once per call that searched. */
    fees: Type.Optional(Type.Object({ web_search: Type.Optional(decimal), grounded_prompt: Type.Optional(decimal) }, strict)),
    source: name,
    /** When the source was read. */
    checked: date,
    note: Type.Optional(Type.String({ maxLength: 400 })),
  },
  strict,
);

const headSchema = Type.Object(
  {
    version: Type.String({ minLength: 1, maxLength: 64 }),
    currency: Type.Literal('USD'),
    entries: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 10_000 }),
  },
  strict,
);

export type TokenPrices = Type.Static<typeof tokenPrices>;
export type MediaPrices = Type.Static<typeof mediaPrices>;
export type PriceBookEntry = Type.Static<typeof entrySchema>;
export type PriceBookData = { readonly version: string; readonly currency: 'USD'; readonly entries: readonly PriceBookEntry[] };

/** A price book or price override that cannot be used. `problems` names every fault, each with its place. */
export class PriceBookError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The price book cannot be used: ${problems.join(' ')}`);
    this.name = 'PriceBookError';
    this.problems = problems;
  }
}

const headValidator = Compile(headSchema);
const entryValidator = Compile(entrySchema);

/**
 * Checks a price book read from a file. Throws PriceBookError that names every problem: unknown members, prices that are not plain
 * decimals, tiers that do not start at 0 or do not rise, windows that begin twice, names that two models claim.
 */
export function parsePriceBook(json: unknown): PriceBookData {
  if (!headValidator.Check(json)) throw new PriceBookError(describe(headValidator.Errors(json), ''));
  const problems: string[] = [];
  const entries: PriceBookEntry[] = [];
  for (const [index, entry] of json.entries.entries()) {
    // Entry by entry, because the validator stops after a few errors and each fault is to be named.
    if (entryValidator.Check(entry)) entries.push(entry);
    else problems.push(...describe(entryValidator.Errors(entry), `/entries/${index}`));
  }
  problems.push(...entries.flatMap(tierProblems), ...windowProblems(entries), ...nameProblems(entries));
  if (problems.length > 0) throw new PriceBookError(problems);
  return { version: json.version, currency: json.currency, entries };
}

function describe(errors: ReturnType<typeof entryValidator.Errors>, prefix: string): string[] {
  return errors.map((error) => {
    const extra = error.keyword === 'additionalProperties' ? ` (${error.params.additionalProperties.join(', ')})` : '';
    const hint = error.keyword === 'pattern' ? `: wants ${String(error.params.pattern)}` : '';
    return `${prefix}${error.instancePath || '/'} ${error.message}${extra}${hint}.`;
  });
}

function label(entry: PriceBookEntry): string {
  return `${entry.vendor}/${entry.model}@${entry.effectiveFrom}`;
}

function tierProblems(entry: PriceBookEntry): string[] {
  const problems: string[] = [];
  const { tiers } = entry;
  if (tiers === undefined && entry.media === undefined)
    problems.push(`${label(entry)}: it has neither tiers nor media, so that it prices nothing.`);
  if (tiers !== undefined && tiers[0]?.inputAbove !== 0) problems.push(`${label(entry)}: the first tier must begin at inputAbove 0.`);
  tiers?.forEach((tier, index) => {
    const before = tiers[index - 1];
    if (before !== undefined && tier.inputAbove <= before.inputAbove) {
      problems.push(`${label(entry)}: tier ${index} must begin above tier ${index - 1} (${before.inputAbove}), not at ${tier.inputAbove}.`);
    }
  });
  for (const member of ['effectiveFrom', 'released', 'checked'] as const) {
    const value = entry[member];
    if (value !== undefined && !isCalendarDate(value)) problems.push(`${label(entry)}: ${member} ${value} is not a date of the calendar.`);
  }
  return problems;
}

function isCalendarDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function windowProblems(entries: readonly PriceBookEntry[]): string[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    const window = label(entry);
    if (seen.has(window)) return [`${window}: this window is listed twice.`];
    seen.add(window);
    return [];
  });
}

function nameProblems(entries: readonly PriceBookEntry[]): string[] {
  const owners = new Map<string, string>();
  return entries.flatMap((entry) =>
    [entry.model, ...(entry.aliases ?? [])].flatMap((spelling) => {
      const key = `${entry.vendor}/${spelling}`;
      const owner = owners.get(key);
      owners.set(key, owner ?? entry.model);
      return owner === undefined || owner === entry.model ? [] : [`${label(entry)}: the name ${key} already belongs to ${owner}.`];
    }),
  );
}
