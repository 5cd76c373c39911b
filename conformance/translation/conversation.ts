import type { DialectId } from '../../src/dialects/dialect-id.ts';
import type { Wire } from './wire.ts';

/** A part of a client's turn. A plain string is text. */
export type SpokenPart =
  | string
  | { readonly image: 'inline' | 'address' | 'private' | 'file'; readonly detail?: 'low' | 'high' }
  | { readonly document: 'pdf' | 'address' | 'private' | 'text' | 'file' }
  | { readonly audio: 'wav' }
  | { readonly video: 'mp4' }
  | { readonly call: string; readonly name: string; readonly arguments?: Wire; readonly rawArguments?: string }
  | { readonly result: string; readonly name: string; readonly content: ResultContent; readonly isError?: boolean }
  | { readonly refusal: string };

/** Text unchanged, an object as JSON, or text with an image. */
export type ResultContent = string | { readonly json: Wire } | { readonly text: string; readonly image: 'inline' };

export type SpokenTurn = {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly SpokenPart[];
  /** A turn in the client's dialect, as received in a reply; replaces `parts`. */
  readonly verbatim?: readonly Wire[];
};

type SpokenTool = { readonly name: string; readonly description?: string; readonly schema?: Wire; readonly strict?: boolean };

/** A request in a neutral format. Each client writes it by hand in its own format; see `clients`. */
export type Conversation = {
  readonly system?: readonly string[];
  readonly turns: readonly SpokenTurn[];
  readonly tools?: readonly SpokenTool[];
  readonly choice?:
    | 'auto'
    | 'required'
    | 'none'
    | { readonly name: string }
    | { readonly allowed: readonly string[]; readonly required: boolean };
  readonly parallel?: boolean;
  /** Absent: no limit if the dialect permits that, otherwise 1000. */
  readonly outputTokensMax?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stop?: readonly string[];
  readonly user?: string;
  readonly tier?: 'auto' | 'default' | 'flex' | 'priority';
  readonly thinking?: 'off' | { readonly effort: string } | { readonly budget: number };
  readonly format?: 'json' | { readonly name: string; readonly schema: Wire; readonly strict?: boolean };
  readonly search?: { readonly allowedDomains?: readonly string[] };
  readonly codeExecution?: boolean;
  /** Requested candidates. */
  readonly count?: number;
  /** Members that are copied into the body of one dialect. Dialects without an entry cannot express the feature. */
  readonly wire?: Partial<Record<DialectId, Wire>>;
};

/** Thrown by a client's writer if its dialect cannot express the case, which then is skipped for this client. */
export class Inexpressible extends Error {}

/** A client's call as it is sent. */
export type ClientCall = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Wire;
};

/** Settings by the names that the cases use, as a client's dialect spells them in warnings. */
type SpelledFields = Readonly<Record<string, string>>;

/** A client of one dialect, written by hand after the vendors' documentation. */
export type TranslationClient = {
  readonly dialect: DialectId;
  readonly title: string;
  readonly spelling: SpelledFields;
  /** Throws `Inexpressible`. */
  readonly write: (conversation: Conversation, model: string, stream: boolean) => ClientCall;
  /** Reads a whole reply and fails on anything that the vendor's clients could not process. */
  readonly readWhole: (reply: Wire) => ClientView;
  /** Reads a complete stream with the same rules. */
  readonly readStream: (text: string) => ClientView;
  readonly readError: (status: number, body: Wire) => ClientError;
  /** Reads the error that ends a broken stream. Fails if the stream ends as if it were complete. */
  readonly readBrokenStream: (text: string) => ClientError;
};

export type Stop = 'end' | 'stop-sequence' | 'calls' | 'length' | 'refusal' | 'pause';

type SaidCall = { readonly id: string; readonly name: string; readonly arguments: Wire };

/** A client's view of a reply. */
export type ClientView = {
  readonly model: string;
  readonly text: string;
  readonly refusal: string;
  readonly reasoning: string;
  readonly calls: readonly SaidCall[];
  readonly stop: Stop;
  readonly stopSequence?: string;
  /** Undefined if the reply has no usage. `input` is all of it. */
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number; readonly reasoning: number } | undefined;
  readonly citations: readonly { readonly url: string; readonly cited: string }[];
  readonly searches: number;
  /** The reply in the form in which this client sends it back. */
  readonly turn: readonly Wire[];
};

export type ClientError = { readonly status: number; readonly type: string; readonly message: string; readonly param?: string };

/** The upstream's request in a neutral format. A part is a word for its role and kind, and its content. */
export type Received = {
  readonly system: string;
  /**
   * `user: Hello`, `assistant: call 1 get_weather {…}`, `user: result 1 …`: calls are numbered, so that present and
   * absent ids compare equal.
   */
  readonly turns: readonly string[];
  readonly tools: readonly string[];
  readonly schemas: Readonly<Record<string, Wire>>;
  readonly choice: string;
  readonly parallel: boolean | undefined;
  readonly outputTokensMax: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly seed: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly stop: readonly string[];
  readonly user: string | undefined;
  readonly tier: string | undefined;
  /** `off`, `effort high`, `budget 2048`, `adaptive`; empty if not set. */
  readonly thinking: string;
  /** `json`, or the schema. */
  readonly format: Wire;
  readonly search: string;
  /** The vendor's own proofs that were sent back, in order. */
  readonly proofs: readonly string[];
};
