import type { CallOpening } from '../billing/ledger/call-entry.ts';
import type { PricingParameters, Usage } from '../inference/usage.ts';
import type { VideoError, VideoForm, VideoMode } from '../inference/video.ts';

/**
 * The phases of a task. `submitting`: the intent is recorded, and the upstream may have received it; clients see
 * `queued`. `storing`: the upstream has finished, and its file is being copied; clients see `in_progress`. Phases only
 * go forward in this order, and end with `completed` or `failed`.
 */
export const videoPhases = ['submitting', 'queued', 'in_progress', 'storing', 'completed', 'failed'] as const;
export type VideoPhase = (typeof videoPhases)[number];

/** The finished file in our own storage. */
export type StoredMedia = {
  readonly key: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Hexadecimal; also the entity tag. */
  readonly sha256: string;
};

/** A video job as it is stored. Content is sealed; fields that the store searches are not. */
export type VideoTask = {
  /** The id for clients. */
  readonly id: string;
  /** The call that made it: the key of its ledger entry, and the idempotency key at the upstream. */
  readonly callId: string;
  readonly userName: string;
  readonly keyId: string;
  readonly keyName: string;
  /** The tags of its call: see CallOpening. */
  readonly tags?: string;
  readonly form: VideoForm;
  readonly mode: VideoMode;
  readonly requestedModel: string;
  readonly upstream: string;
  /** The credential that made it. If it was removed, another credential of the same upstream is used. */
  readonly credentialId: string;
  readonly vendor: string;
  readonly upstreamModel: string;
  readonly protocol: string;
  readonly phase: VideoPhase;
  /** 0 to 100; 100 only when completed. */
  readonly progress: number;
  readonly createdAtMs: number;
  /** Set when the task has ended. */
  readonly endedAtMs?: number;
  readonly upstreamTaskId?: string;
  /** The video from which this one was made, if the gateway made it. */
  readonly remixedFrom?: string;
  /** The sealed request; see SealedVideoRequest. */
  readonly sealed: Uint8Array<ArrayBuffer>;
  readonly priceVersion: string;
  readonly pricingParameters: PricingParameters;
  /** The largest possible usage, and its cost, which is held until the task ends. */
  readonly heldUsage: Usage;
  readonly heldNanoUsd: bigint;
  /**
   * Bits of the pots in which the hold was reserved: see CallOpening.heldPots. Present only until the task is recorded,
   * because then the task has the hold.
   */
  readonly heldPots?: number;
  /** The team of the user when the video was requested, and who pays if it is not the user: see CallOpening. */
  readonly team?: CallOpening['team'];
  readonly payer?: CallOpening['payer'];
  /** The charge. Absent until the task has ended; 0 if nothing was charged. */
  readonly chargedNanoUsd?: bigint;
  readonly error?: VideoError;
  readonly media?: StoredMedia;
  /** The length of the finished video, if known. */
  readonly durationMs?: number;
  /** When the file is deleted. */
  readonly expiresAtMs?: number;
  /**
   * The sealed report on the finished video, with the location of its file, which opens the file for any holder. Set
   * from `storing` on.
   */
  readonly result?: string;
  readonly nextPollAtMs: number;
  readonly lastPollAtMs?: number;
  /** Consecutive unclear polls. */
  readonly pollFailures: number;
  /** Since when the upstream has denied the video. */
  readonly missingSinceMs?: number;
  /** Since when an operator should examine it, and why. */
  readonly alert?: { readonly sinceMs: number; readonly reason: string };
};

/** The sealed part of a task's request, as JSON. */
export type SealedVideoRequest = {
  readonly prompt: string;
  /** A JSON text; see VideoRequest. */
  readonly metadata: string;
  /** The requested length, for the task object. */
  readonly durationSeconds?: number;
  readonly resolution?: string;
  readonly aspectRatio?: string;
  readonly user?: string;
  /** The request's address for callbacks. */
  readonly callbackUrl?: string;
  /** How many days the file is stored, by the key's setting at the request. Absent: as configured. */
  readonly retentionDays?: number;
  /** The submission, to send it again to an idempotent upstream. Absent for others. */
  readonly submission?: { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly bodyBase64: string };
};
