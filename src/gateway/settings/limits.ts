/** The gateway's time limits. Defaults and their sources: docs/reference/config.md. */
export type GatewayTimeouts = {
  /** To open a connection to an upstream. */
  readonly connectMs: number;
  /** From sending a request to the upstream's status line. */
  readonly firstByteMs: number;
  /** Between two pieces of a reply. */
  readonly idleMs: number;
  /** The whole call. */
  readonly totalMs: number;
  /** How long a client may leave sent bytes unread before its call is aborted. */
  readonly stalledReaderMs: number;
  /** Silence of a running stream after which the client receives a heartbeat. */
  readonly heartbeatMs: number;
};

/** The treatment of upstreams that fail before any content. */
export type RetrySettings = {
  /** Attempts of one call, at all its targets together. */
  readonly attemptsMax: number;
  /** Whether failing targets come after all others. */
  readonly avoidFailing: boolean;
  /** How long a stream's opening events and headers are held at most, so that another attempt can answer instead. */
  readonly holdOpeningMs: number;
  /** Whether another upstream may answer a request that the content filter of one refused. */
  readonly contentFilter: 'stop' | 'other-upstream';
};

export type GatewayLimits = {
  readonly requestBytesMax: number;
  readonly requestDepthMax: number;
  readonly requestTokensMax: number;
  /** A whole reply. */
  readonly replyBytesMax: number;
  /** One event of a stream. */
  readonly eventBytesMax: number;
  /** An upstream's error body. */
  readonly errorBytesMax: number;
  /** Connections of clients at a time. */
  readonly connectionsMax: number;
};

const second = 1000;
const mebibyte = 1024 * 1024;

export const defaultTimeouts: GatewayTimeouts = {
  connectMs: 3 * second,
  firstByteMs: 600 * second,
  idleMs: 120 * second,
  totalMs: 3600 * second,
  stalledReaderMs: 60 * second,
  heartbeatMs: 15 * second,
};

export const defaultRetries: RetrySettings = { attemptsMax: 3, avoidFailing: true, holdOpeningMs: second, contentFilter: 'stop' };

export const defaultLimits: GatewayLimits = {
  requestBytesMax: 32 * mebibyte,
  requestDepthMax: 64,
  requestTokensMax: 250_000,
  replyBytesMax: 64 * mebibyte,
  eventBytesMax: 32 * mebibyte,
  errorBytesMax: mebibyte,
  connectionsMax: 50_000,
};

/** A file that a request names by its address: about the size limit of vendors. */
export const defaultMediaBytesMax = 20 * mebibyte;

/** How much load the gateway accepts. Read every tenth of a second, so that a reload applies to the next calls. */
export type OverloadSettings = {
  /** Running calls, including streams. A tenth of them is reserved for tenants below their share. */
  readonly callsMax: number;
  /** Request bodies held at a time, in bytes. A single larger one is accepted if there is no other. */
  readonly requestBytesInFlightMax: number;
  /**
   * Mean length of a turn of the event loop beyond which calls are refused. They are refused until a turn takes a fifth
   * of it.
   */
  readonly loopDelayMs: number;
  /** How long a call waits for a place before it is refused. */
  readonly waitMs: number;
};

export const defaultOverload: OverloadSettings = {
  callsMax: 20_000,
  requestBytesInFlightMax: 512 * mebibyte,
  loopDelayMs: 50,
  waitMs: 100,
};
