/** A column of the statistics, as the contract of the monitor names them: the first two are all input and all output, the others are parts of the first. */
export type StatisticsColumn = 'promptTokens' | 'completionTokens' | 'cacheTokens' | 'cacheCreationTokens';

/** What is the same of every meter: what follows from it is nobody's to remember. */
type Facts = {
  /** In price expressions, receipts and commands. */
  readonly name: string;
  /** Which line of a charge it makes. */
  readonly line: string;
  /** Where the statistics count it. What stands under the prompt or the completion counts towards token limits too. */
  readonly statistics: readonly StatisticsColumn[];
};

type TokenFacts = Facts & {
  readonly unit: 'token';
  readonly side: 'input' | 'output';
  /** The count that it is a part of; undefined for those that are added up. */
  readonly partOf: string | undefined;
  /** Member of the token prices, and the one that holds where a list does not have it. Where it has neither, the price of the side holds. */
  readonly price: string;
  readonly priceElse: string | undefined;
  /** The `type` of `weir_tokens_total`; undefined where it is counted within its whole only. */
  readonly metric: string | undefined;
};

type MediaFacts = Facts & {
  readonly unit: 'character' | 'ms' | 'picture' | 'search';
  /** Member of the media prices, and what so much is the price for. */
  readonly price: string;
  readonly pricedBy: 'piece' | 'million' | 'started second of a minute' | 'second';
  /** What has that price, in words: after `USD per …`, and after `has no price for …`. */
  readonly priced: string;
  readonly unpriced: string;
  /** Whether a call that has it is billed by it in place of tokens: then nothing is made up to tokens. */
  readonly standalone: boolean;
};

/** Uses of tools that the vendor ran. */
type UseFacts = Facts & {
  readonly unit: 'use';
  /** Member of the fees. */
  readonly price: string;
};

/**
 * Everything that is counted of a call, and what each consumer of counts needs to know of it. A meter is added here; wherever it cannot be derived what a new one means, the
 * compiler asks. The order is that of the lines of a charge (parts follow their whole there), and the order in which parts are taken off their whole.
 */
export const meters = {
  /** Input tokens that were neither read from nor written to a cache. */
  inputTokens: {
    name: 'input_tokens',
    unit: 'token',
    side: 'input',
    partOf: undefined,
    price: 'input',
    priceElse: undefined,
    line: 'input',
    metric: 'input',
    statistics: ['promptTokens'],
  },
  cacheReadTokens: {
    name: 'cache_read_tokens',
    unit: 'token',
    side: 'input',
    partOf: undefined,
    price: 'cacheRead',
    priceElse: undefined,
    line: 'cache_read',
    metric: 'cache_read',
    statistics: ['promptTokens', 'cacheTokens'],
  },
  /** Cache writes that live for five minutes, and those of vendors that name no lifetime. */
  cacheWrite5mTokens: {
    name: 'cache_write_5m_tokens',
    unit: 'token',
    side: 'input',
    partOf: undefined,
    price: 'cacheWrite5m',
    priceElse: undefined,
    line: 'cache_write_5m',
    metric: 'cache_write_5m',
    statistics: ['promptTokens', 'cacheCreationTokens'],
  },
  cacheWrite1hTokens: {
    name: 'cache_write_1h_tokens',
    unit: 'token',
    side: 'input',
    partOf: undefined,
    price: 'cacheWrite1h',
    priceElse: 'cacheWrite5m',
    line: 'cache_write_1h',
    metric: 'cache_write_1h',
    statistics: ['promptTokens', 'cacheCreationTokens'],
  },
  /** All output tokens, reasoning included. */
  outputTokens: {
    name: 'output_tokens',
    unit: 'token',
    side: 'output',
    partOf: undefined,
    price: 'output',
    priceElse: undefined,
    line: 'output',
    metric: 'output',
    statistics: ['completionTokens'],
  },
  /** The part of inputTokens that was audio, where the vendor says so. */
  inputAudioTokens: {
    name: 'input_audio_tokens',
    unit: 'token',
    side: 'input',
    partOf: 'inputTokens',
    price: 'inputAudio',
    priceElse: undefined,
    line: 'input_audio',
    metric: undefined,
    statistics: [],
  },
  /** The part of cacheReadTokens that was audio. */
  cacheReadAudioTokens: {
    name: 'cache_read_audio_tokens',
    unit: 'token',
    side: 'input',
    partOf: 'cacheReadTokens',
    price: 'cacheReadAudio',
    priceElse: 'cacheRead',
    line: 'cache_read_audio',
    metric: undefined,
    statistics: [],
  },
  /** The part of outputTokens that was audio. */
  outputAudioTokens: {
    name: 'output_audio_tokens',
    unit: 'token',
    side: 'output',
    partOf: 'outputTokens',
    price: 'outputAudio',
    priceElse: undefined,
    line: 'output_audio',
    metric: undefined,
    statistics: [],
  },
  /** The part of inputTokens that was pictures, where the vendor says so. */
  inputImageTokens: {
    name: 'input_image_tokens',
    unit: 'token',
    side: 'input',
    partOf: 'inputTokens',
    price: 'inputImage',
    priceElse: undefined,
    line: 'input_image',
    metric: undefined,
    statistics: [],
  },
  /** The part of cacheReadTokens that was pictures. */
  cacheReadImageTokens: {
    name: 'cache_read_image_tokens',
    unit: 'token',
    side: 'input',
    partOf: 'cacheReadTokens',
    price: 'cacheReadImage',
    priceElse: 'cacheRead',
    line: 'cache_read_image',
    metric: undefined,
    statistics: [],
  },
  /** The part of outputTokens that was pictures. */
  outputImageTokens: {
    name: 'output_image_tokens',
    unit: 'token',
    side: 'output',
    partOf: 'outputTokens',
    price: 'outputImage',
    priceElse: undefined,
    line: 'output_image',
    metric: undefined,
    statistics: [],
  },
  /** The part of outputTokens spent on reasoning. */
  reasoningTokens: {
    name: 'reasoning_tokens',
    unit: 'token',
    side: 'output',
    partOf: 'outputTokens',
    price: 'reasoning',
    priceElse: undefined,
    line: 'reasoning',
    metric: 'reasoning',
    statistics: [],
  },
  /** Code points of text that was read out, where speech is billed by them. For a speech model they are the prompt. */
  inputCharacters: {
    name: 'input_characters',
    unit: 'character',
    price: 'characters',
    pricedBy: 'million',
    priced: 'million characters that are read out',
    unpriced: 'characters that are read out',
    line: 'characters',
    standalone: true,
    statistics: ['promptTokens'],
  },
  /** Milliseconds of sound that were transcribed or translated, where they are billed. */
  inputAudioMs: {
    name: 'input_audio_ms',
    unit: 'ms',
    price: 'audioMinute',
    pricedBy: 'started second of a minute',
    priced: 'minute of sound that is transcribed or translated',
    unpriced: 'minutes of sound',
    line: 'audio_second',
    standalone: true,
    statistics: [],
  },
  /** Milliseconds of sound that were made, where they are billed. */
  outputAudioMs: {
    name: 'output_audio_ms',
    unit: 'ms',
    price: 'outputAudioMinute',
    pricedBy: 'started second of a minute',
    priced: 'minute of sound that is made',
    unpriced: 'minutes of sound that is made',
    line: 'output_audio_second',
    standalone: true,
    statistics: [],
  },
  /** Milliseconds of video that were made. What a second costs depends on the resolution, which is a pricing parameter and no count. */
  outputVideoMs: {
    name: 'output_video_ms',
    unit: 'ms',
    price: 'videoSecond',
    pricedBy: 'second',
    priced: 'second of video',
    unpriced: 'seconds of video',
    line: 'video_ms',
    standalone: true,
    statistics: [],
  },
  /** Pictures that something was made from. */
  inputImages: {
    name: 'input_images',
    unit: 'picture',
    price: 'inputImage',
    pricedBy: 'piece',
    priced: 'picture that something is made from',
    unpriced: 'pictures that something is made from',
    line: 'input_image',
    standalone: false,
    statistics: [],
  },
  /** Pictures that were made, where they are billed by the piece. */
  outputImages: {
    name: 'output_images',
    unit: 'picture',
    price: 'outputImage',
    pricedBy: 'piece',
    priced: 'picture that is made',
    unpriced: 'pictures',
    line: 'output_image',
    standalone: true,
    statistics: [],
  },
  /** Units in which a ranking of documents is billed: one for each query with up to so many documents. */
  searchUnits: {
    name: 'search_units',
    unit: 'search',
    price: 'searchUnit',
    pricedBy: 'piece',
    priced: 'search unit of a ranking',
    unpriced: 'units of rankings',
    line: 'search_unit',
    standalone: true,
    statistics: [],
  },
  /** Web searches (or search queries, as the vendor counts them) that the vendor ran and bills. */
  webSearches: { name: 'web_searches', unit: 'use', price: 'web_search', line: 'web_search', statistics: [] },
  /** Pages that the vendor read. */
  webFetches: { name: 'web_fetches', unit: 'use', price: 'web_fetch', line: 'web_fetch', statistics: [] },
  /** Searches of files that the vendor ran. */
  fileSearches: { name: 'file_searches', unit: 'use', price: 'file_search', line: 'file_search', statistics: [] },
  /** Uses of other tools that the vendor ran. */
  toolCalls: { name: 'tool_calls', unit: 'use', price: 'tool_call', line: 'tool_call', statistics: [] },
  /** Containers in which the vendor ran code for this call. */
  codeSessions: { name: 'code_sessions', unit: 'use', price: 'code_session', line: 'code_session', statistics: [] },
} as const satisfies Readonly<Record<string, TokenFacts | MediaFacts | UseFacts>>;

type Table = typeof meters;
type NamesWith<Wanted> = { [Name in keyof Table]: Table[Name] extends Wanted ? Name : never }[keyof Table];

export type Meter = keyof Table;
export type TokenMeter = NamesWith<{ readonly unit: 'token' }>;
/** Counts of tokens that are added up: all input is the sum of those of its side. */
export type SummableMeter = NamesWith<{ readonly partOf: undefined }>;
export type MediaMeter = NamesWith<{ readonly unit: MediaFacts['unit'] }>;
export type UseMeter = NamesWith<{ readonly unit: 'use' }>;
export type StandaloneMeter = NamesWith<{ readonly standalone: true }>;

export type TokenPrice = Table[TokenMeter]['price'];
export type MediaPrice = Table[MediaMeter]['price'];
export type UsePrice = Table[UseMeter]['price'];

/** All meters, or those that a test takes, in the order of the table. */
function listMeters<Name extends Meter>(isOne: (facts: TokenFacts | MediaFacts | UseFacts) => boolean): readonly Name[] {
  // The test and the type say the same of each row.
  return (Object.keys(meters) as Name[]).filter((name) => isOne(meters[name]));
}

export const meterNames = listMeters<Meter>(() => true);
export const tokenMeters = listMeters<TokenMeter>(({ unit }) => unit === 'token');
export const summableMeters = listMeters<SummableMeter>((facts) => facts.unit === 'token' && facts.partOf === undefined);
export const mediaMeters = listMeters<MediaMeter>(({ unit }) => unit !== 'token' && unit !== 'use');
export const useMeters = listMeters<UseMeter>(({ unit }) => unit === 'use');
export const standaloneMeters = listMeters<StandaloneMeter>((facts) => 'standalone' in facts && facts.standalone);

/** All counts of tokens of a side, parts of others among them. */
export const tokensOfSide: Readonly<Record<'input' | 'output', readonly TokenMeter[]>> = {
  input: tokenMeters.filter((name) => meters[name].side === 'input'),
  output: tokenMeters.filter((name) => meters[name].side === 'output'),
};

/** Those that are added up to all input. */
export const inputMeters: readonly SummableMeter[] = summableMeters.filter((name) => meters[name].side === 'input');

/** The parts of a count that may have a price of their own, in the order in which they are taken off it. */
export function partsOf(whole: SummableMeter): readonly TokenMeter[] {
  return tokenMeters.filter((name) => meters[name].partOf === whole);
}

/** Counts by meter. One that nobody reported is absent; a reported zero is 0. */
type Counts = { readonly [Name in Meter]?: number };

/** All input, cache included. Beyond 2^53 it is not exact, and still above every bound. */
export function countInput(counts: Counts): number {
  let sum = 0;
  for (const name of inputMeters) sum += counts[name] ?? 0;
  return sum;
}

/** The first meter that a call is billed by in place of tokens; undefined for one in tokens. */
export function findStandalone(counts: Counts): StandaloneMeter | undefined {
  return standaloneMeters.find((name) => counts[name] !== undefined);
}

/** What the tools did that the gateway runs itself, each with a price of its own. */
export const toolMeters = {
  webSearches: { name: 'web_searches', price: 'webSearch', line: 'gateway_web_search' },
  fileSearches: { name: 'file_searches', price: 'fileSearch', line: 'gateway_file_search' },
  codeExecutions: { name: 'code_executions', price: 'codeExecution', line: 'gateway_code_execution' },
  /** Pages that were read because the model named them. */
  pagesRead: { name: 'pages_read', price: 'pageRead', line: 'gateway_page_read' },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly price: string; readonly line: string }>>;

export type ToolMeter = keyof typeof toolMeters;
export type ToolPrice = (typeof toolMeters)[ToolMeter]['price'];

// The keys are those of the table.
export const toolMeterNames = Object.keys(toolMeters) as readonly ToolMeter[];
