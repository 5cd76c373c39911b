import type { DialectId } from '../../src/dialects/dialect-id.ts';
import type { Wire } from './wire.ts';

/** What a client says in one part of a turn. A plain string is text. */
export type SpokenPart =
  | string
  | { readonly image: 'inline' | 'address' | 'private' | 'file'; readonly detail?: 'low' | 'high' }
  | { readonly document: 'pdf' | 'address' | 'private' | 'text' | 'file' }
  | { readonly audio: 'wav' }
  | { readonly video: 'mp4' }
  | { readonly call: string; readonly name: string; readonly arguments?: Wire; readonly rawArguments?: string }
  | { readonly result: string; readonly name: string; readonly content: ResultContent; readonly isError?: boolean }
  | { readonly refusal: string };

/** Text as it is, an object as JSON, or text with an image. */
export type ResultContent = string | { readonly json: Wire } | { readonly text: string; readonly image: 'inline' };

export type SpokenTurn = {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly SpokenPart[];
  /** A turn as the client's dialect got it from a reply, in place of `parts`. */
  readonly verbatim?: readonly Wire[];
};

type SpokenTool = { readonly name: string; readonly description?: string; readonly schema?: Wire; readonly strict?: boolean };

/** A request in nobody's format. Each client writes it by hand in its own; see `clients`. */
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
  /** Absent: none is said where the dialect lets it be absent, and 1000 where it does not. */
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
  /** Candidates asked for. */
  readonly count?: number;
  /** Members put into the body of one dialect as they stand. A dialect that is not named cannot say the thing. */
  readonly wire?: Partial<Record<DialectId, Wire>>;
};

/** Thrown by a client's writer for what its dialect has no way to say: then the case is none of that client's. */
export class Unsayable extends Error {}

/** A call of a client as it goes over the wire. */
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
  /** Throws `Unsayable`. */
  readonly write: (conversation: Conversation, model: string, stream: boolean) => ClientCall;
  /** Reads a whole reply and fails on anything that the vendor's clients would stumble over. */
  readonly readWhole: (reply: Wire) => Said;
  /** Reads a stream that has ended, as strictly. */
  readonly readStream: (text: string) => Said;
  readonly readError: (status: number, body: Wire) => SaidError;
  /** Reads the error that ends a broken stream. Fails when the stream ends as if it were whole. */
  readonly readBrokenStream: (text: string) => SaidError;
};

export type Stop = 'end' | 'stop-sequence' | 'calls' | 'length' | 'refusal' | 'pause';

type SaidCall = { readonly id: string; readonly name: string; readonly arguments: Wire };

/** What a client understood of a reply. */
export type Said = {
  readonly model: string;
  readonly text: string;
  readonly refusal: string;
  readonly reasoning: string;
  readonly calls: readonly SaidCall[];
  readonly stop: Stop;
  readonly stopSequence?: string;
  /** Undefined where the reply tells none. `input` is all of it. */
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number; readonly reasoning: number } | undefined;
  readonly citations: readonly { readonly url: string; readonly cited: string }[];
  readonly searches: number;
  /** The reply as this client sends it back. */
  readonly turn: readonly Wire[];
};

export type SaidError = { readonly status: number; readonly type: string; readonly message: string; readonly param?: string };

/** What an upstream got, in nobody's format. A part is a word for its role and kind, and what it holds. */
export type Received = {
  readonly system: string;
  /** `user: Hello`, `assistant: call 1 get_weather {…}`, `user: result 1 …`: calls are counted, so that ids and their absence are alike. */
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
  /** `off`, `effort high`, `budget 2048`, `adaptive`; empty when nothing is said. */
  readonly thinking: string;
  /** `json`, or the schema. */
  readonly format: Wire;
  readonly search: string;
  /** Proofs of the vendor's own that came back, in order. */
  readonly proofs: readonly string[];
};
