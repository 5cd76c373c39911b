import type { UserScope } from '../../accounts/people/principal.ts';
import type { Change } from '../../audit/change-author.ts';

/** An operator's order to keep the next calls of one key as they are on the wire. */
export type Capture = {
  readonly id: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly userName: string;
  /** The most calls that are kept, and how many are kept until now. */
  readonly calls: number;
  readonly taken: number;
  readonly createdAtMs: number;
  /** No call that begins later is kept. */
  readonly untilMs: number;
  /** As the audit log names the operator. */
  readonly createdBy: string;
};

/** A call that was kept. */
export type CapturedCall = { readonly callId: string; readonly captureId: string; readonly atMs: number; readonly bytes: number };

/** Limits of captures: of an order, of what is kept of it, and of all. */
export const captureLimits = {
  calls: 100,
  durationMs: 3_600_000,
  keepMs: 24 * 3_600_000,
  /** Of each of the four wires. */
  wireBytes: 2 * 1024 * 1024,
  /** Of all kept wires of the database. */
  allBytes: 256 * 1024 * 1024,
} as const;

/** The store of captures. All methods reject with the store's error. */
export type CaptureStore = {
  /** Begins a capture, with its row of the audit log. False if the key is not there or has an open capture. */
  readonly insertCapture: (capture: Capture, change: Change) => Promise<boolean>;
  /** Captures of these users' keys whose calls may still be there, newest first, with the calls that are. */
  readonly listCaptures: (query: {
    readonly users: UserScope;
    readonly nowMs: number;
  }) => Promise<readonly (Capture & { readonly kept: readonly CapturedCall[] })[]>;
  /** Ends a capture and deletes what it has kept. False if there is none of this id. */
  readonly deleteCapture: (id: string, change: Change) => Promise<boolean>;
  /** Captures that take calls now. */
  readonly openCaptures: (nowMs: number) => Promise<readonly Capture[]>;
  /** Keeps the sealed wires of a call. `over`: the capture takes no more calls. `full`: all captures are too large. */
  readonly keepWires: (call: {
    readonly callId: string;
    readonly captureId: string;
    readonly atMs: number;
    readonly nowMs: number;
    readonly expiresAtMs: number;
    readonly allBytesMax: number;
    readonly sealed: Uint8Array;
  }) => Promise<'kept' | 'over' | 'full'>;
  /** The sealed wires of a call of one of these users. Undefined if there are none. */
  readonly findWires: (query: {
    readonly callId: string;
    readonly users: UserScope;
    readonly nowMs: number;
  }) => Promise<{ readonly sealed: Uint8Array } | undefined>;
  /** Deletes wires and captures that are over. */
  readonly sweepCaptures: (nowMs: number) => Promise<void>;
};
