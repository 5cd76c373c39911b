import type { Change } from '../../audit/change-author.ts';
/** An event for a receiver. The payload names the subject and its new state, but none of its content. */
export type NewDelivery = {
  /** The header `webhook-id`: the same on every attempt, so that receivers recognise repetitions. */
  readonly id: string;
  readonly userName: string;
  /** The id of the video or response. */
  readonly subject: string;
  /** `video.completed`, `video.failed`, `response.completed` and so on. */
  readonly eventType: string;
  /** The sealed address, because addresses may contain credentials. */
  readonly sealedUrl: Uint8Array<ArrayBuffer>;
  /** The exact body that is signed and sent. */
  readonly payload: string;
  readonly createdAtMs: number;
};

export type DeliveryStatus = 'waiting' | 'delivered' | 'given-up';

export type Delivery = NewDelivery & {
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptAtMs: number;
  /** Status of the last answer; absent if there was none. */
  readonly lastStatus?: number;
  /** Why the last attempt failed, without the receiver's own text. */
  readonly lastProblem?: string;
  readonly deliveredAtMs?: number;
};

/** Sealed secrets that sign the events of a user: the current one, and for a while after a rotation the one before. */
export type CallbackSecrets = {
  readonly userName: string;
  readonly current: Uint8Array<ArrayBuffer>;
  readonly previous?: { readonly sealed: Uint8Array<ArrayBuffer>; readonly untilMs: number };
};

/** The store that callbacks need. */
export type CallbackStore = {
  /** Adds events that do not end a task; `endTask` adds the others. An existing id is not changed. */
  readonly insertDeliveries: (deliveries: readonly NewDelivery[]) => Promise<void>;
  /** Leases due deliveries that no other process works on. */
  readonly claimDeliveries: (claim: {
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    readonly limit: number;
  }) => Promise<readonly Delivery[]>;
  /** Records the outcome of an attempt. False if the lease is lost. */
  readonly recordAttempt: (attempt: {
    readonly id: string;
    readonly owner: string;
    readonly status: DeliveryStatus;
    readonly attempts: number;
    readonly nextAttemptAtMs: number;
    readonly lastStatus?: number;
    readonly lastProblem?: string;
    readonly deliveredAtMs?: number;
  }) => Promise<boolean>;
  /** Lists deliveries, newest first. */
  readonly listDeliveries: (page: {
    readonly userName: string;
    readonly subject?: string;
    readonly limit: number;
  }) => Promise<readonly Delivery[]>;
  /** Restarts a delivery with the first attempt. False if the user has no such delivery. */
  readonly redeliver: (delivery: { readonly userName: string; readonly id: string; readonly change: Change }) => Promise<boolean>;
  readonly findCallbackSecrets: (userName: string) => Promise<CallbackSecrets | undefined>;
  /** @param secrets.change present if an operator rotates them; absent if they are created on first use */
  readonly putCallbackSecrets: (secrets: CallbackSecrets & { readonly change?: Change }) => Promise<void>;
  /** Deletes deliveries that ended before a time. Resolves with their number. */
  readonly sweepDeliveries: (sweep: { readonly beforeMs: number; readonly limit: number }) => Promise<number>;
};
