import type { DialectId, UpstreamDialectId } from '../../src/dialects/dialect-id.ts';
import type { Truth } from '../support/audit.ts';
import type { Conversation, Received, ClientView } from './conversation.ts';

/** A client's interface and the dialect of its upstream. */
export type Pair = { readonly from: DialectId; readonly to: UpstreamDialectId };

export type PlannedReply = NonNullable<Truth['plannedReply']>;

/** The kind of model: one that only answers, one that thinks, or one with fewer features than others. */
export type ModelKind = 'plain' | 'thinker' | 'limited';

/** The expected result of a case between two dialects. Absent members are as without translation. */
export type Expectation = {
  /** The upstream's request, as far as it is specified. */
  readonly received?: Partial<Received>;
  /**
   * The complete warning header: `dropped topK`, with the setting's name in the cases; `adapted *` for a note about a
   * part of the conversation. Absent: no header.
   */
  readonly notes?: readonly string[];
  /** The upstream does not have the tool: it gets this function instead, which Weir runs. */
  readonly standIn?: string;
  /** The call is a 400 that names this setting, or `*` for a part of the conversation. */
  readonly refused?: string;
  /** The status of the refusal. Default 400. */
  readonly refusedStatus?: number;
  /** The upstream refuses the call with a 400 of this message. */
  readonly refusedUpstream?: RegExp;
  /** The client's view, if it differs from the upstream's plan. */
  readonly said?: Partial<ClientView> | ((planned: PlannedReply) => Partial<ClientView>);
};

export type TranslationCase = {
  /** Describes the test; a row of the matrix. */
  readonly name: string;
  readonly section: string;
  readonly model?: ModelKind;
  readonly conversation: Conversation;
  /** The clients of the case; by default every one whose dialect can express it. */
  readonly only?: readonly DialectId[];
  /** The upstreams of the case, if it is useless for others. */
  readonly upstreams?: readonly UpstreamDialectId[];
  /** Upstreams for which the case cannot be tried here. The table says so. */
  readonly without?: readonly UpstreamDialectId[];
  /** True if the dialect's own vendor behaves differently from the gateway, so that passthrough proves nothing. */
  readonly skipsPassthrough?: boolean;
  /** Tested with streams only. */
  readonly isStreamed?: boolean;
  /** The client requests strict translation. */
  readonly isStrict?: boolean;
  /** Headers of the simulated vendor without their prefix. */
  readonly steering?: Readonly<Record<string, string>>;
  /** Members of the reply that only the case checks. */
  readonly unchecked?: readonly (keyof ClientView)[];
  readonly expect?: (pair: Pair) => Expectation;
  /**
   * The client sends the reply back with results of its calls, or continues if there are none; this is the expected
   * result. `first` is the upstream's first reply.
   */
  readonly continued?: (pair: Pair, first: PlannedReply) => Expectation;
  /** True for a client that sends back its calls without the thoughts before them. */
  readonly forgetsThoughts?: boolean;
  /** True if the row of the ledger cannot be exact, because the upstream reports no usage or is stopped. */
  readonly isEstimated?: boolean;
};
