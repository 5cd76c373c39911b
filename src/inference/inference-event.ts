import type { Citation } from './citation.ts';
import type { StopReason, TokenLogprob } from './inference-reply.ts';
import type { BuiltInToolKind, MediaPart, ServerToolPart } from './inference-request.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import type { Proof } from './proof.ts';
import type { UsageReport } from './usage.ts';

/** What a block that begins is. */
export type BlockStart =
  | { readonly kind: 'text' | 'refusal' }
  | { readonly kind: 'reasoning'; readonly itemId?: string }
  /** `wire` is the dialect's own item of a call that is more than one of a function. */
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly wire?: JsonObject }
  /** A built-in tool at work. What it is asked for may be known from the start. */
  | { readonly kind: 'server-tool'; readonly tool: BuiltInToolKind; readonly id: string; readonly input: readonly string[] };

/**
 * One step of a streamed reply in the neutral form.
 *
 * The grammar: `started` once and first; every block `block-started`, then its deltas, then `block-ended`, told apart by an index that
 * counts up from 0 in the order in which blocks begin; blocks may overlap (parallel calls) until `serializeBlocks` has put them in line;
 * `part` is a block that comes whole and takes an index of its own; `usage` any number of times, each the whole of what is known so far;
 * `finished` once and last, when every block has ended. A stream that broke has no `finished`.
 */
export type InferenceEvent =
  | { readonly type: 'started'; readonly replyId?: string; readonly servedModel?: string }
  | { readonly type: 'block-started'; readonly index: number; readonly block: BlockStart }
  /** More text of a text, refusal or reasoning block, or of a call's arguments (JSON text). Never empty. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string }
  /** A new paragraph of a reasoning block begins: the vendor cuts its summary here. */
  | { readonly type: 'paragraph'; readonly index: number }
  | { readonly type: 'proof'; readonly index: number; readonly proof: Proof }
  | { readonly type: 'citation'; readonly index: number; readonly citation: Citation }
  /** What a built-in tool found: the whole of its activity, once, before its block ends. A block without it is of a tool that was interrupted. */
  | { readonly type: 'tool-outcome'; readonly index: number; readonly part: ServerToolPart }
  | { readonly type: 'block-ended'; readonly index: number }
  | { readonly type: 'part'; readonly index: number; readonly part: ServerToolPart | MediaPart }
  /** How likely the tokens of the next text were. It stands before that text, and belongs to no block. */
  | { readonly type: 'logprobs'; readonly tokens: readonly TokenLogprob[] }
  | { readonly type: 'usage'; readonly usageReport: UsageReport }
  | { readonly type: 'finished'; readonly stopReason: StopReason; readonly stopSequence?: string; readonly stopDetail?: string };

/** A pure step from events to events, with a memory of its own for one stream. */
export type EventStep = (event: InferenceEvent) => readonly InferenceEvent[];
