/**
 * A column of the statistics, as the monitor's contract names it. The first two are all input and all output, the
 * others are parts of the first.
 */
export type StatisticsColumn = 'promptTokens' | 'completionTokens' | 'cacheTokens' | 'cacheCreationTokens';

/** Facts that every meter has. The gateway derives the rest from them. */
type Facts = {
  /** The name in price expressions, receipts and commands. */
  readonly name: string;
  /** The line of a charge that it makes. */
  readonly line: string;
  /**
   * The columns in which statistics count it. Meters that count as prompt or completion also count towards token
   * limits.
   */
  readonly statistics: readonly StatisticsColumn[];
};

type TokenFacts = Facts & {
  readonly unit: 'token';
  readonly side: 'input' | 'output';
  /** The count that contains it. Undefined for counts that are summed. */
  readonly partOf: string | undefined;
  /**
   * The member of the token prices, and the member that applies if a price list does not have it. If both are missing,
   * the price of the side applies.
   */
  readonly price: string;
  readonly priceElse: string | undefined;
  /** The `type` of `weir_tokens_total`. Undefined if only its whole is counted. */
  readonly metric: string | undefined;
};

type MediaFacts = Facts & {
  readonly unit: 'character' | 'ms' | 'picture' | 'search';
  /** The member of the media prices, and the quantity that the price is for. */
  readonly price: string;
  readonly pricedBy: 'piece' | 'million' | 'started second of a minute' | 'second';
  /** The quantity in words: after `USD per …`, and after `has no price for …`. */
  readonly priced: string;
  readonly unpriced: string;
  /** Whether it replaces tokens in the bill of a call that has it. Such a call needs no estimate of its tokens. */
  readonly standalone: boolean;
};

/** Uses of tools that the vendor ran. */
type UseFacts = Facts & {
  readonly unit: 'use';
  /** The member of the fees. */
  readonly price: string;
};

/**
 * Everything that is counted for a call, with the facts that each consumer of counts needs. Add a meter here; the
 * compiler asks for everything that cannot be derived. The order is the order of the lines of a charge (parts follow
 * their whole there), and the order in which parts are subtracted from their whole.
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
  /** Cache writes that live for five minutes, and cache writes of vendors that state no lifetime. */
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
  /** The part of inputTokens that was audio, if the vendor reports it. */
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
  /** The part of inputTokens that was images, if the vendor reports it. */
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
  /** The part of cacheReadTokens that was images. */
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
  /** The part of outputTokens that was images. */
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
  /** Code points of text that became speech, if speech is billed by them. They are the prompt of a speech model. */
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
  /** Milliseconds of audio that were transcribed or translated, if they are billed. */
  inputAudioMs: {
    name: 'input_audio_ms',
    unit: 'ms',
    price: 'audioMinute',
    pricedBy: 'started second of a minute',
    priced: 'minute of audio that is transcribed or translated',
    unpriced: 'minutes of audio',
    line: 'audio_second',
    standalone: true,
    statistics: [],
  },
  /** Milliseconds of audio that were generated, if they are billed. */
  outputAudioMs: {
    name: 'output_audio_ms',
    unit: 'ms',
    price: 'outputAudioMinute',
    pricedBy: 'started second of a minute',
    priced: 'minute of audio that is generated',
    unpriced: 'minutes of audio that is generated',
    line: 'output_audio_second',
    standalone: true,
    statistics: [],
  },
  /**
   * Milliseconds of video that were generated. The price of a second depends on the resolution, which is a pricing
   * parameter and not a count.
   */
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
  /** Images that were input of images or videos. */
  inputImages: {
    name: 'input_images',
    unit: 'picture',
    price: 'inputImage',
    pricedBy: 'piece',
    priced: 'image of the input',
    unpriced: 'images of the input',
    line: 'input_image',
    standalone: false,
    statistics: [],
  },
  /** Images that were generated, if they are billed per image. */
  outputImages: {
    name: 'output_images',
    unit: 'picture',
    price: 'outputImage',
    pricedBy: 'piece',
    priced: 'image that is generated',
    unpriced: 'pictures',
    line: 'output_image',
    standalone: true,
    statistics: [],
  },
  /** The units in which rankings of documents are billed: one for each query with a limited number of documents. */
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
  /** Web searches (or queries, as the vendor counts them) that the vendor ran and bills. */
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
/** Counts of tokens that are summed: all input is the sum of the input counts. */
export type SummableMeter = NamesWith<{ readonly partOf: undefined }>;
export type MediaMeter = NamesWith<{ readonly unit: MediaFacts['unit'] }>;
export type UseMeter = NamesWith<{ readonly unit: 'use' }>;
export type StandaloneMeter = NamesWith<{ readonly standalone: true }>;

export type TokenPrice = Table[TokenMeter]['price'];
export type MediaPrice = Table[MediaMeter]['price'];
export type UsePrice = Table[UseMeter]['price'];

/** The meters that a test selects, in the order of the table. */
function listMeters<Name extends Meter>(isOne: (facts: TokenFacts | MediaFacts | UseFacts) => boolean): readonly Name[] {
  // The test and the type select the same rows.
  return (Object.keys(meters) as Name[]).filter((name) => isOne(meters[name]));
}

export const meterNames = listMeters<Meter>(() => true);
export const tokenMeters = listMeters<TokenMeter>(({ unit }) => unit === 'token');
export const summableMeters = listMeters<SummableMeter>((facts) => facts.unit === 'token' && facts.partOf === undefined);
export const mediaMeters = listMeters<MediaMeter>(({ unit }) => unit !== 'token' && unit !== 'use');
export const useMeters = listMeters<UseMeter>(({ unit }) => unit === 'use');
export const standaloneMeters = listMeters<StandaloneMeter>((facts) => 'standalone' in facts && facts.standalone);

/** All counts of tokens of a side, including parts of other counts. */
export const tokensOfSide: Readonly<Record<'input' | 'output', readonly TokenMeter[]>> = {
  input: tokenMeters.filter((name) => meters[name].side === 'input'),
  output: tokenMeters.filter((name) => meters[name].side === 'output'),
};

/** The counts whose sum is all input. */
export const inputMeters: readonly SummableMeter[] = summableMeters.filter((name) => meters[name].side === 'input');

/** The parts of a count that may have a price of their own, in the order in which they are subtracted from it. */
export function partsOf(whole: SummableMeter): readonly TokenMeter[] {
  return tokenMeters.filter((name) => meters[name].partOf === whole);
}

/** Counts by meter. Absent: nobody reported it. A reported zero is 0. */
type Counts = { readonly [Name in Meter]?: number };

/** All input, cache included. Above 2^53 it is not exact, but still above every limit. */
export function countInput(counts: Counts): number {
  let sum = 0;
  for (const name of inputMeters) sum += counts[name] ?? 0;
  return sum;
}

/** Finds the first meter by which a call is billed in place of tokens. Undefined if the call is billed by tokens. */
export function findStandalone(counts: Counts): StandaloneMeter | undefined {
  return standaloneMeters.find((name) => counts[name] !== undefined);
}

/** Uses of the tools that the gateway runs. Each has a price. */
export const toolMeters = {
  webSearches: { name: 'web_searches', price: 'webSearch', line: 'gateway_web_search' },
  fileSearches: { name: 'file_searches', price: 'fileSearch', line: 'gateway_file_search' },
  codeExecutions: { name: 'code_executions', price: 'codeExecution', line: 'gateway_code_execution' },
  /** Pages that were read because the model requested them. */
  pagesRead: { name: 'pages_read', price: 'pageRead', line: 'gateway_page_read' },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly price: string; readonly line: string }>>;

export type ToolMeter = keyof typeof toolMeters;
export type ToolPrice = (typeof toolMeters)[ToolMeter]['price'];

// The keys are those of the table.
export const toolMeterNames = Object.keys(toolMeters) as readonly ToolMeter[];
