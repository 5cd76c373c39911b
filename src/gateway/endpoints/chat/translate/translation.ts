import type { EncodedRequest, ReplyReading, ReplyWriting } from '../../../../dialects/chat-codec.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { CallLimits } from '../../../../inference/limit-calls.ts';
import type { TranslationNotes } from '../../../../inference/translation-notes.ts';
import type { UsageReport } from '../../../../inference/usage.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';

/** A call whose client and upstream speak different dialects: what its reply is read and written with. */
export type Translation = {
  readonly client: ChatDialect;
  readonly upstream: ChatDialect;
  readonly encoded: EncodedRequest;
  /** The stop sequences that the client asked for: no other ends its reply. */
  readonly stopSequences?: readonly string[] | undefined;
  /** How many calls the reply may make, where that is limited. */
  readonly callLimits?: CallLimits | undefined;
  readonly reading: ReplyReading;
  readonly writing: ReplyWriting;
  /** Sets right what the upstream's vendor counts otherwise than its dialect says. */
  readonly correctUsage: (report: UsageReport) => UsageReport;
  /** What was done to the request. The reply's own notes come too late for a header and are only recorded. */
  readonly notes: TranslationNotes;
  readonly replyNotes: TranslationNotes;
  /** The client's framing when it asked for a stream. */
  readonly framing: StreamFraming | undefined;
  /** Called before the reply's end is written, when it has calls with proofs that the client may lose. */
  readonly rememberProofs: (turn: VaultedTurn) => void;
};
