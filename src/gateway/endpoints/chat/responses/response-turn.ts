import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { ResponseKeeper, StoredResponse } from '../../../../conversations/response-store.ts';
import type { Target } from '../../../attempts/routing/target.ts';

/** A response as it is kept, without what it says. */
export type ResponseRecord = Omit<StoredResponse, 'status' | 'response' | 'leaseUntilMs' | 'keeper'>;

/** A request as one target gets it. */
export type TurnRequest = {
  readonly request: WireRequest;
  readonly bytes: Buffer;
  /** Whether it is written anew even where the upstream speaks the client's dialect: then nothing of it refers to what the upstream might keep. */
  readonly translate: boolean;
};

/**
 * One call of the response-style interface that goes on from something kept here, or is to be kept itself. It knows the whole conversation, and
 * which target needs to be told it.
 */
export type ResponseTurn = {
  /** The id of the reply where the gateway gives it one. */
  readonly replyId: string;
  /** The request as it is ranked and metered: with the whole conversation where targets get that. */
  readonly request: WireRequest;
  readonly facts: CallFacts;
  /** Where the conversation goes on by itself: that target comes first. */
  readonly keeper: ResponseKeeper | undefined;
  /** A target has forgotten what it kept: from now on it is told everything. False where it was told already. */
  readonly forgetKeeper: (target: Target) => boolean;
  /** The request with the whole conversation, wherever it is kept. */
  readonly whole: () => WireRequest | Promise<WireRequest>;
  readonly requestFor: (target: Target) => TurnRequest | Promise<TurnRequest>;
  /** Whether the reply is to be kept. */
  readonly isStored: boolean;
  /** Whether its end waits until it is kept. Otherwise whoever runs it sees to that. */
  readonly keeps: boolean;
  /** What is kept of the turn besides what is said. */
  readonly describe: () => ResponseRecord;
  /** Keeps a reply that has ended, whatever its status. Resolves when it can be gone on from; never rejects. */
  readonly record: (response: JsonObject, target: Target, isNative: boolean) => Promise<void>;
  /** Adds a reply that was kept to the conversation of the turn, and gives that free. Never rejects. */
  readonly conclude: (response: JsonObject) => Promise<void>;
  /** Gives free what was taken for the time of the call. */
  readonly close: () => void;
};
