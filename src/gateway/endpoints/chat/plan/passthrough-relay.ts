import { passReplyHeaders, scrubBytes, scrubText } from '../../../attempts/exchange/pass-headers.ts';
import type { ChatDialect, StreamRequest } from '../../../../dialects/chat-dialect.ts';
import type { ErrorCode, GatewayError } from '../../../../inference/gateway-error.ts';
import { Frame, type StreamFraming } from '../../../../platform/frames.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { ReplyRelay, StreamRelay } from '../../../attempts/exchange/reply-relay.ts';
import type { PassingForm } from '../reply-form.ts';

export type PassthroughOptions<Piece> = {
  /** The form that the sink of the reply accepts. */
  readonly form: PassingForm<Piece>;
  readonly dialect: ChatDialect;
  readonly streamRequest: StreamRequest;
  readonly requestId: string;
  readonly target: Target;
  readonly framing: StreamFraming | undefined;
  /** Whether replies get fields that the contract has and the vendor omits. Otherwise the bytes do not change. */
  readonly isDocumented?: boolean;
};

/** Client and upstream speak the same dialect: replies pass unchanged, and a tap reads the usage. */
export function createPassthroughRelay<Piece>(options: PassthroughOptions<Piece>): ReplyRelay<Piece> {
  const { dialect, framing, target, requestId, isDocumented } = options;
  return {
    upstreamFraming: framing,
    replyHeaders: (headers) => passReplyHeaders(target.upstream, headers, requestId),
    readReply: dialect.readReply,
    writeReply: (_reply, bytes) => dialect.editReply(bytes),
    openStream: (_limits, mayBeCut) => openStream(options, framing ?? 'sse', mayBeCut === true),
    readError: ({ status, body }) => findOperatorsError(dialect, status, body),
    editError: isDocumented === true ? dialect.contractReply?.editError : undefined,
  };
}

/** Refusals that concern the operator's credential and account, and not the client. */
const operatorsCodes: ReadonlySet<ErrorCode> = new Set(['upstream_credentials_rejected', 'upstream_quota_exhausted']);

function findOperatorsError(dialect: ChatDialect, status: number, body: unknown): GatewayError | undefined {
  if (status >= 500) return undefined;
  const error = dialect.codec.decodeError({ status, body });
  return operatorsCodes.has(error.code) ? error : undefined;
}

const nothing: readonly never[] = [];

/** A frame that reports a failure, without the operator's credential. */
function scrubFrame(frame: Frame, apiKey: string | undefined): Frame {
  const bytes = scrubBytes(frame.bytes, apiKey);
  return bytes === frame.bytes ? frame : new Frame(bytes, frame.event, scrubText(frame.data, apiKey));
}

function openStream<Piece>(
  { dialect, form, streamRequest, target, isDocumented }: PassthroughOptions<Piece>,
  framing: StreamFraming,
  mayBeCut: boolean,
): StreamRelay<Piece> {
  const tap = dialect.createStreamTap({ framing, request: streamRequest });
  const cutter = mayBeCut ? form.createCutter({ framing, request: streamRequest }) : undefined;
  const edit = isDocumented === true ? dialect.contractReply?.createFrameEditor() : undefined;
  const { apiKey } = target.upstream;
  const { passChunk } = form;
  let framesSent = 0;
  const skim = (chunk: Buffer): Piece | undefined => {
    const frames = tap.skim?.(chunk) ?? 0;
    framesSent += frames;
    return frames === 0 ? undefined : passChunk?.(chunk);
  };
  return {
    skim: tap.skim === undefined || passChunk === undefined || cutter !== undefined || edit !== undefined ? undefined : skim,
    read: (frame) => {
      const action = tap.read(frame);
      if (action === 'hide') return nothing;
      framesSent += 1;
      cutter?.pass(frame);
      const edited = edit?.(frame) ?? (action === 'forward' ? undefined : action.bytes);
      const passed = edited === undefined ? frame : new Frame(edited, frame.event, frame.data);
      return [form.pass(tap.state() === 'failed' ? scrubFrame(passed, apiKey) : passed)];
    },
    end: form.rest,
    cut: (usage) => {
      if (cutter === undefined) throw new Error('a stream without a cutter was cut');
      return cutter.end(usage);
    },
    state: tap.state,
    hasContent: tap.hasContent,
    report: tap.report,
    endedEarly: () => false,
    hasEndMark: dialect.hasEndMark(framing),
    // An array stream that consists of an error can still be answered with a status.
    passesErrors: (headersSent) => framing === 'sse' || headersSent || tap.report().outputCharacters > 0,
    position: () => ({ ...tap.report(), framesSent }),
  };
}
