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

const mebibyte = 1024 * 1024;

export const defaultOverload: OverloadSettings = {
  callsMax: 20_000,
  requestBytesInFlightMax: 512 * mebibyte,
  loopDelayMs: 50,
  waitMs: 100,
};
