import type { RefusalPart, ReasoningPart, ServerToolPart, TextPart, ToolCallPart, MediaPart } from './inference-request.ts';
import type { UsageReport } from './usage.ts';

/** Why generation ended. */
export type StopReason =
  | 'end'
  | 'stop-sequence'
  | 'tool-calls'
  | 'output-limit'
  | 'context-limit'
  /** The model or a filter refused. A reply that ends so is a reply and no error. */
  | 'refusal'
  /** The vendor paused a long turn of its own tools; the client continues it. */
  | 'pause'
  /** The vendor gave up for a reason that no other dialect can name: an invalid call of its model, for example. */
  | 'failed';

/** One piece of a reply. Parts of a reply and of an assistant turn are the same things. */
export type ReplyPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart | ServerToolPart | MediaPart;

type LikelyToken = { readonly token: string; readonly logprob: number };

/** A token of the visible text, how likely it was (a natural logarithm), and what else might have stood there, the likeliest first. */
export type TokenLogprob = LikelyToken & { readonly alternatives: readonly LikelyToken[] };

/** A whole reply in the neutral form. */
export type InferenceReply = {
  /** The vendor's id of it. */
  readonly replyId?: string;
  readonly servedModel?: string;
  readonly parts: readonly ReplyPart[];
  readonly stopReason: StopReason;
  /** Which of the request's sequences ended it, where that is known. */
  readonly stopSequence?: string;
  /** What the vendor said of the end in its own words, for dialects with room for it. */
  readonly stopDetail?: string;
  /** How likely the tokens of the text were, where the client asked. */
  readonly logprobs?: readonly TokenLogprob[];
  readonly usageReport?: UsageReport;
};
