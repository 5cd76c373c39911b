import type { DialectId } from '../../src/dialects/dialect-id.ts';
import type { Truth } from '../support/audit.ts';
import type { Conversation, Received, Said } from './conversation.ts';

/** A client's interface and the dialect of the upstream that its call goes to. */
export type Pair = { readonly from: DialectId; readonly to: DialectId };

export type PlannedReply = NonNullable<Truth['plannedReply']>;

/** Which of the upstreams' models: one that just answers, one that thinks, or one whose vendor gave it less than the others. */
export type ModelKind = 'plain' | 'thinker' | 'limited';

/** What has to come of a case between two dialects. What is not named is as if nothing had to be translated. */
export type Expectation = {
  /** What the upstream got, as far as it is named. */
  readonly received?: Partial<Received>;
  /**
   * Everything that the warning header says: `dropped topK`, with the setting's name in the cases; `adapted *` for one about a part of the
   * conversation. Absent: there is no such header.
   */
  readonly notes?: readonly string[];
  /** The upstream has no such tool: it is offered this function in its place, which Weir runs. */
  readonly standIn?: string;
  /** The call is a 400 that names this setting, or `*` for a part of the conversation. */
  readonly refused?: string;
  /** The status of the refusal. Default 400. */
  readonly refusedStatus?: number;
  /** The upstream refuses the call with a 400 of this message. */
  readonly refusedUpstream?: RegExp;
  /** What the client understood where that is not what the upstream meant. */
  readonly said?: Partial<Said> | ((planned: PlannedReply) => Partial<Said>);
};

export type TranslationCase = {
  /** Says what is tried; a row of the matrix. */
  readonly name: string;
  readonly section: string;
  readonly model?: ModelKind;
  readonly conversation: Conversation;
  /** The clients that are asked, where not every one whose dialect can say it. */
  readonly only?: readonly DialectId[];
  /** The upstreams that are tried, where the case means nothing to others. */
  readonly upstreams?: readonly DialectId[];
  /** True where the dialect's own vendor does otherwise than the gateway, so that passthrough shows nothing. */
  readonly skipsPassthrough?: boolean;
  /** Tried with streams only. */
  readonly isStreamed?: boolean;
  /** The client asks for strict translation. */
  readonly isStrict?: boolean;
  /** Headers of the simulated vendor without their prefix. */
  readonly steering?: Readonly<Record<string, string>>;
  /** Members of the reply that are checked by the case alone. */
  readonly unchecked?: readonly (keyof Said)[];
  readonly expect?: (pair: Pair) => Expectation;
  /** The client sends the reply back with results of its calls, or goes on where there are none, and this is to be seen then. `first` is what the upstream said first. */
  readonly continued?: (pair: Pair, first: PlannedReply) => Expectation;
  /** True for a client that sends back its calls and nothing of the thoughts before them. */
  readonly forgetsThoughts?: boolean;
  /** True where the row of the ledger cannot be exact: the upstream tells no usage, or is stopped. */
  readonly isEstimated?: boolean;
};
