import type { Citation } from './citation.ts';
import type { StopReason, TokenLogprob } from './inference-reply.ts';
import type { ShownImage } from './image.ts';
import type { BuiltInToolKind, MediaPart, ServerToolPart } from './inference-request.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import type { Proof } from './proof.ts';
import type { UsageReport } from './usage.ts';

/** The kind of a block that begins. */
export type BlockStart =
  | { readonly kind: 'text' | 'refusal' }
  | { readonly kind: 'reasoning'; readonly itemId?: string }
  /** `wire` is the item of the dialect, for calls that are more than a function call. */
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly wire?: JsonObject }
  /** A built-in tool that runs. Its input may be known from the start. */
  | { readonly kind: 'server-tool'; readonly tool: BuiltInToolKind; readonly id: string; readonly input: readonly string[] };

/**
 * One step of a streamed reply in the neutral form.
 *
 * The grammar: `started` comes once and first. Every block is a `block-started`, its deltas and a `block-ended`. Its
 * index counts up from 0 in the order in which blocks begin. Blocks may overlap (parallel calls) until
 * `serializeBlocks` has put them in order. `part` is a block that arrives whole, with an index of its own. `usage` may
 * come many times, and each is the total so far. `finished` comes once and last, after the end of every block. A stream
 * that was interrupted has no `finished`.
 */
export type InferenceEvent =
  | { readonly type: 'started'; readonly replyId?: string; readonly servedModel?: string }
  | { readonly type: 'block-started'; readonly index: number; readonly block: BlockStart }
  /** More text of a text, refusal or reasoning block, or of a call's arguments (JSON text). Never empty. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string }
  /** A new paragraph of a reasoning block begins, as the vendor divides its summary. */
  | { readonly type: 'paragraph'; readonly index: number }
  | { readonly type: 'proof'; readonly index: number; readonly proof: Proof }
  | { readonly type: 'citation'; readonly index: number; readonly citation: Citation }
  /** An unfinished image of a tool that makes images. `number` counts from 0 within the block. */
  | { readonly type: 'partial-image'; readonly index: number; readonly number: number; readonly image: ShownImage }
  /** All findings of a built-in tool: once, before its block ends. If a block has none, its tool was interrupted. */
  | { readonly type: 'tool-outcome'; readonly index: number; readonly part: ServerToolPart }
  | { readonly type: 'block-ended'; readonly index: number }
  | { readonly type: 'part'; readonly index: number; readonly part: ServerToolPart | MediaPart }
  /** The probabilities of the tokens of the next text. The event comes before that text and belongs to no block. */
  | { readonly type: 'logprobs'; readonly tokens: readonly TokenLogprob[] }
  | { readonly type: 'usage'; readonly usageReport: UsageReport }
  | { readonly type: 'finished'; readonly stopReason: StopReason; readonly stopSequence?: string; readonly stopDetail?: string };

/** A step that turns one event into events, with a state of its own for one stream. */
export type EventStep = (event: InferenceEvent) => readonly InferenceEvent[];
