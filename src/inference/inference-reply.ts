import type { RefusalPart, ReasoningPart, ServerToolPart, TextPart, ToolCallPart, MediaPart } from './inference-request.ts';
import type { UsageReport } from './usage.ts';

/** Why the generation ended. */
export type StopReason =
  | 'end'
  | 'stop-sequence'
  | 'tool-calls'
  | 'output-limit'
  | 'context-limit'
  /** The model or a filter refused. Such a reply is a reply and not an error. */
  | 'refusal'
  /** The vendor paused a long turn with its own tools; the client continues it. */
  | 'pause'
  /**
   * The vendor ended the generation for a reason that no other dialect has, for example an invalid call of its model.
   */
  | 'failed';

/** One piece of a reply. A reply and an assistant turn have the same parts. */
export type ReplyPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart | ServerToolPart | MediaPart;

type LikelyToken = { readonly token: string; readonly logprob: number };

/** A token of the visible text, its probability (a natural logarithm), and the alternatives, the most likely first. */
export type TokenLogprob = LikelyToken & { readonly alternatives: readonly LikelyToken[] };

/** A whole reply in the neutral form. */
export type InferenceReply = {
  /** The vendor's id of the reply. */
  readonly replyId?: string;
  readonly servedModel?: string;
  readonly parts: readonly ReplyPart[];
  readonly stopReason: StopReason;
  /** The stop sequence that ended it, if that is known. */
  readonly stopSequence?: string;
  /** The vendor's own description of the end, for dialects that have a field for it. */
  readonly stopDetail?: string;
  /** Probabilities of the text's tokens, if the client requested them. */
  readonly logprobs?: readonly TokenLogprob[];
  readonly usageReport?: UsageReport;
};
