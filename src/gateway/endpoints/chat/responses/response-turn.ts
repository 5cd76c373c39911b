import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { ResponseKeeper, StoredResponse } from '../../../../conversations/response-store.ts';
import type { Target } from '../../../attempts/routing/target.ts';

/** A stored response without its output. */
export type ResponseRecord = Omit<StoredResponse, 'status' | 'response' | 'leaseUntilMs' | 'keeper'>;

/** A request as one target gets it. */
export type TurnRequest = {
  readonly request: WireRequest;
  readonly bytes: Buffer;
  /**
   * Whether it is translated even if the upstream speaks the client's dialect. It then refers to nothing at the
   * upstream.
   */
  readonly translate: boolean;
};

/**
 * One call of the Responses interface that continues something stored here, or is to be stored itself. It has the whole
 * conversation, and decides which target needs it.
 */
export type ResponseTurn = {
  /** The id of the reply if the gateway chooses it. */
  readonly replyId: string;
  /** The request for ranking and metering: with the whole conversation if targets get that. */
  readonly request: WireRequest;
  readonly facts: CallFacts;
  /** The upstream that stores the conversation. It is ranked first. */
  readonly keeper: ResponseKeeper | undefined;
  /** A target no longer has the conversation and gets all of it from now on. False if it already did. */
  readonly forgetKeeper: (target: Target) => boolean;
  /** The request with the whole conversation, wherever that is stored. */
  readonly whole: () => WireRequest | Promise<WireRequest>;
  readonly requestFor: (target: Target) => TurnRequest | Promise<TurnRequest>;
  /** Whether the reply is to be stored. */
  readonly isStored: boolean;
  /** Whether the end of the reply waits until it is stored. Otherwise the background run stores it. */
  readonly keeps: boolean;
  /** The record of the turn, without its output. */
  readonly describe: () => ResponseRecord;
  /** Stores a reply that has ended, whatever its status. Resolves when it can be continued; never rejects. */
  readonly record: (response: JsonObject, target: Target, isNative: boolean) => Promise<void>;
  /** Adds a stored reply to the conversation of the turn, and releases the conversation. Never rejects. */
  readonly conclude: (response: JsonObject) => Promise<void>;
  /** Releases what was locked for the time of the call. */
  readonly close: () => void;
};
