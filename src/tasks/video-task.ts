import type { PricingParameters, Usage } from '../inference/usage.ts';
import type { VideoError, VideoForm, VideoMode } from '../inference/video.ts';

/**
 * Where a task is. `submitting`: the intent is recorded and the upstream may or may not have heard of it; clients see `queued`. `storing`: the upstream has finished and its file
 * is being copied; clients see `in_progress`. Phases only go forward in this order; `completed` and `failed` are the end.
 */
export const videoPhases = ['submitting', 'queued', 'in_progress', 'storing', 'completed', 'failed'] as const;
export type VideoPhase = (typeof videoPhases)[number];

/** The finished file in our own storage. */
export type StoredMedia = {
  readonly key: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Hexadecimal. Also the entity tag. */
  readonly sha256: string;
};

/** A video job as the store keeps it. What was said is sealed; what has to be looked for is not. */
export type VideoTask = {
  /** What clients know it by. */
  readonly id: string;
  /** The request that made it: the key of its ledger row, and the idempotency key at the upstream. */
  readonly callId: string;
  readonly userName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly form: VideoForm;
  readonly mode: VideoMode;
  readonly requestedModel: string;
  readonly upstream: string;
  /** Which of the upstream's credentials made it. Another one of the same upstream is used when this one is gone. */
  readonly credentialId: string;
  readonly vendor: string;
  readonly upstreamModel: string;
  readonly protocol: string;
  readonly phase: VideoPhase;
  /** 0 to 100; 100 only when completed. */
  readonly progress: number;
  readonly createdAtMs: number;
  /** Set once the task is over. */
  readonly endedAtMs?: number;
  readonly upstreamTaskId?: string;
  /** The video that this one was made from, where the gateway made that too. */
  readonly remixedFrom?: string;
  /** Of prompt, metadata and what else the task object shows; see SealedVideoRequest. */
  readonly sealed: Uint8Array<ArrayBuffer>;
  readonly priceVersion: string;
  readonly pricingParameters: PricingParameters;
  /** The most that it can come to, and what that costs: what is held until the task is over. */
  readonly heldUsage: Usage;
  readonly heldNanoUsd: bigint;
  /** Bits of the pots that this was reserved in when it was asked for: see CallOpening.heldPots. Known only until it is recorded, for then the task itself holds it. */
  readonly heldPots?: number;
  /** What it came to. Absent until it is over; 0 when nothing was charged. */
  readonly chargedNanoUsd?: bigint;
  readonly error?: VideoError;
  readonly media?: StoredMedia;
  /** Of the finished video, where it is known. */
  readonly durationMs?: number;
  /** When the file is deleted. */
  readonly expiresAtMs?: number;
  /** What the upstream said when it was finished: where the file is and how long it is. Sealed, because such a link opens the file; set from `storing` on. */
  readonly result?: string;
  readonly nextPollAtMs: number;
  readonly lastPollAtMs?: number;
  /** Polls in a row that told nothing. */
  readonly pollFailures: number;
  /** Since when the upstream has been saying that it knows no such video. */
  readonly missingSinceMs?: number;
  /** Since when an operator should look at it, and why. */
  readonly alert?: { readonly sinceMs: number; readonly reason: string };
};

/** What is sealed of a task's request, as JSON. */
export type SealedVideoRequest = {
  readonly prompt: string;
  /** A JSON text; see VideoRequest. */
  readonly metadata: string;
  /** What the client asked for, for the task object. */
  readonly durationSeconds?: number;
  readonly resolution?: string;
  readonly aspectRatio?: string;
  readonly user?: string;
  /** The request's address for callbacks. */
  readonly callbackUrl?: string;
  /** For how many days the file is to be kept, as the key had it when it asked. Absent: as configured. */
  readonly retentionDays?: number;
  /** The submission, so that it can be sent again to an upstream that takes the same one only once. Absent for others. */
  readonly submission?: { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly bodyBase64: string };
};
