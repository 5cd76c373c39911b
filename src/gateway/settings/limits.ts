/** How long the gateway waits and how much it takes. Defaults and their sources: docs/reference/config.md. */
export type GatewayTimeouts = {
  /** To open a connection to an upstream. */
  readonly connectMs: number;
  /** From sending a request to the upstream's status line. */
  readonly firstByteMs: number;
  /** Between two pieces of a reply. */
  readonly idleMs: number;
  /** The whole call. */
  readonly totalMs: number;
  /** How long a client may leave sent bytes unread before its call is given up. */
  readonly stalledReaderMs: number;
  /** Silence of a running stream after which the client is sent a heartbeat. */
  readonly heartbeatMs: number;
};

/** What is done about upstreams that fail before they have said anything. */
export type RetrySettings = {
  /** Attempts of one call altogether, at all its targets. */
  readonly attemptsMax: number;
  /** Whether targets that do not work come after all others until they do. */
  readonly avoidFailing: boolean;
  /** For how long a stream's opening events and headers are held at most, so that another attempt can answer instead. */
  readonly holdOpeningMs: number;
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

export const defaultRetries: RetrySettings = { attemptsMax: 3, avoidFailing: true, holdOpeningMs: second };

export const defaultLimits: GatewayLimits = {
  requestBytesMax: 32 * mebibyte,
  requestDepthMax: 64,
  requestTokensMax: 250_000,
  replyBytesMax: 64 * mebibyte,
  eventBytesMax: 32 * mebibyte,
  errorBytesMax: mebibyte,
  connectionsMax: 50_000,
};

/** A file that a request names by its address: about the most that vendors take. */
export const defaultMediaBytesMax = 20 * mebibyte;

/** How much the gateway takes on. Read again every tenth of a second, so that a reload holds for the calls that follow. */
export type OverloadSettings = {
  /** Calls under way at a time, streams included. A tenth of them is kept for tenants that have less than their share. */
  readonly callsMax: number;
  /** Request bodies held at a time, in bytes. A single larger one is taken when no other is there. */
  readonly requestBytesInFlightMax: number;
  /** Mean length of a turn of the event loop beyond which calls are refused. They are, until a turn takes a fifth of it. */
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
