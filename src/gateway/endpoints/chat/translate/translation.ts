import type { EncodedRequest, ReplyReading, ReplyWriting } from '../../../../dialects/chat-codec.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { CallLimits } from '../../../../inference/limit-calls.ts';
import type { TranslationNotes } from '../../../../inference/translation-notes.ts';
import type { UsageReport } from '../../../../inference/usage.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';

/** A call whose client and upstream speak different dialects: how its reply is read and written. */
export type Translation = {
  readonly client: ChatDialect;
  readonly upstream: ChatDialect;
  readonly encoded: EncodedRequest;
  /** The stop sequences that the client asked for. No other sequence ends its reply. */
  readonly stopSequences?: readonly string[] | undefined;
  /** The most calls that the reply may make, if that is limited. */
  readonly callLimits?: CallLimits | undefined;
  readonly reading: ReplyReading;
  readonly writing: ReplyWriting;
  /** Corrects counts where the upstream's vendor counts differently from its dialect. */
  readonly correctUsage: (report: UsageReport) => UsageReport;
  /** Changes of the request. Notes about the reply come too late for a header and are only recorded. */
  readonly notes: TranslationNotes;
  readonly replyNotes: TranslationNotes;
  /** The client's framing if it asked for a stream. */
  readonly framing: StreamFraming | undefined;
  /** Called before the end of a reply is written, if the reply has calls with proofs that the client may lose. */
  readonly rememberProofs: (turn: VaultedTurn) => void;
};
