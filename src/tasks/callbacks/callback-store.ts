/** An event that somebody is to be told of. The payload is thin: it names what happened to what, and nothing of its content. */
export type NewDelivery = {
  /** The header `webhook-id`: the same on every attempt, so that receivers can tell repetitions. */
  readonly id: string;
  readonly userName: string;
  /** What it is about: the id of a video or of a response. */
  readonly subject: string;
  /** `video.completed`, `video.failed`, `response.completed` and so on. */
  readonly eventType: string;
  /** The address, sealed: addresses carry credentials. */
  readonly sealedUrl: Uint8Array<ArrayBuffer>;
  /** The body that is signed and sent, byte by byte. */
  readonly payload: string;
  readonly createdAtMs: number;
};

export type DeliveryStatus = 'waiting' | 'delivered' | 'given-up';

export type Delivery = NewDelivery & {
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptAtMs: number;
  /** Status of the last answer; absent where there was none. */
  readonly lastStatus?: number;
  /** Why the last attempt failed, without anything that the receiver said. */
  readonly lastProblem?: string;
  readonly deliveredAtMs?: number;
};

/** Secrets that sign the events of a user, sealed: the one in force, and after a rotation the one before for a while. */
export type CallbackSecrets = {
  readonly userName: string;
  readonly current: Uint8Array<ArrayBuffer>;
  readonly previous?: { readonly sealed: Uint8Array<ArrayBuffer>; readonly untilMs: number };
};

/** What callbacks need of a store. */
export type CallbackStore = {
  /** For events that do not end a task: those that do are added by `endTask`. One whose id is there already is left alone. */
  readonly insertDeliveries: (deliveries: readonly NewDelivery[]) => Promise<void>;
  /** Takes deliveries that are due and that nobody works on. */
  readonly claimDeliveries: (claim: {
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    readonly limit: number;
  }) => Promise<readonly Delivery[]>;
  /** Writes down what became of an attempt. False when the lease is lost. */
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
  /** Newest first. */
  readonly listDeliveries: (page: {
    readonly userName: string;
    readonly subject?: string;
    readonly limit: number;
  }) => Promise<readonly Delivery[]>;
  /** Has a delivery sent again, from the first attempt on. False when this user has none of that id. */
  readonly redeliver: (delivery: { readonly userName: string; readonly id: string; readonly nowMs: number }) => Promise<boolean>;
  readonly findCallbackSecrets: (userName: string) => Promise<CallbackSecrets | undefined>;
  readonly putCallbackSecrets: (secrets: CallbackSecrets) => Promise<void>;
  /** Forgets deliveries that were over before a time. Resolves with how many. */
  readonly sweepDeliveries: (sweep: { readonly beforeMs: number; readonly limit: number }) => Promise<number>;
};
