import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../../accounts/api-key.ts';
import type { RecordedChat } from '../../content/records/recorded-call.ts';
import type { CallEnd, CallEntry } from '../../billing/ledger/call-entry.ts';
import type { DialectId, Operation } from '../../dialects/dialect-id.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { InterfaceId } from '../../inference/interfaces.ts';
import type { UpstreamHandler, UpstreamRequest } from '../../platform/http/upstream-client.ts';
import type { ClientReply } from '../replies/client-reply.ts';
import type { CallTrace } from './call-trace.ts';

/** `refused`: the call ended before it was sent to any upstream. */
export type ReportedEnd = CallEnd | 'refused';

/** The facts about an ended call. Sinks read it and do not keep it. */
export type EndedCall = {
  readonly report: CallReport;
  readonly end: ReportedEnd;
  /** The status that the client received. Absent if it disconnected before. */
  readonly status: number | undefined;
  /** From acceptance to the end of the exchange. */
  readonly durationMs: number;
};

/** Keeps the bodies of a call, because its key lets them be recorded or an operator has ordered a capture. */
export type CallRecorder = {
  /** The body of the client's request. @param chat absent for other interfaces */
  readonly request: (bytes: Uint8Array, chat?: RecordedChat) => void;
  /** The call is answered by this reply from now on. */
  readonly follow: (reply: ClientReply) => void;
  /**
   * An attempt is about to be sent.
   * @param credential of the upstream; it is removed from what is kept
   * @returns the handler that receives the answer, and keeps it
   */
  readonly attempt: (request: UpstreamRequest, handler: UpstreamHandler, credential: string | undefined) => UpstreamHandler;
  /** The call is over. Called once. */
  readonly ended: (call: EndedCall) => void;
};

/** The interface of a call, as logs, metrics and traces name it. */
export type CallLabel = DialectId | InterfaceId;

export type CallStart = {
  readonly callId: string;
  readonly dialect: CallLabel;
  /** Absent if the request never became a call. */
  readonly operation?: Operation | undefined;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
};

/**
 * The report of one call. The stations of the call set the facts that they learn. It is reported once, when both the
 * client's connection and the books are done with it.
 */
export class CallReport {
  readonly callId: string;
  readonly dialect: CallLabel;
  readonly operation: Operation | undefined;
  #response: ClientReply;
  readonly request: IncomingMessage;
  readonly acceptedAtMs: number;
  /** Monotonic. */
  readonly startedMs: number;
  /** The client program's name, if it is a plain word. */
  readonly agent: string | undefined;
  readonly trace: CallTrace | undefined;
  /** Set when the key is found. */
  caller: Pick<ApiKey, 'id' | 'userName' | 'name' | 'tags' | 'team'> | undefined;
  /** Set when the key is found, if something of the call's content is kept. */
  recorder: CallRecorder | undefined;
  /** Set when the request is read. */
  facts: { readonly requestedModel: string; readonly stream: boolean } | undefined;
  /** Milliseconds that the call waited for a place, if it had to. */
  queueMs: number | undefined;
  /** Monotonic time at which the last attempt was sent. */
  attemptStartedMs: number | undefined;
  entry: CallEntry | undefined;
  error: GatewayError | undefined;
  /** The end of a call that is not in the books. */
  unbookedEnd: CallEnd | undefined;
  #isExchanging = false;
  #isClosed = false;
  #whenClosed: (() => void) | undefined;
  #isReported = false;
  readonly #onEnded: (report: CallReport) => void;

  constructor(
    { callId, dialect, operation, request, response }: CallStart,
    began: { readonly acceptedAtMs: number; readonly startedMs: number; readonly trace: CallTrace | undefined },
    onEnded: (report: CallReport) => void,
  ) {
    this.callId = callId;
    this.dialect = dialect;
    this.operation = operation;
    this.#response = response;
    this.request = request;
    this.acceptedAtMs = began.acceptedAtMs;
    this.startedMs = began.startedMs;
    this.trace = began.trace;
    this.agent = readAgent(request.headers['user-agent']);
    this.#onEnded = onEnded;
    this.#listen(response);
  }

  /** The destination of the call's reply. */
  get response(): ClientReply {
    return this.#response;
  }

  /** The call continues with another reply than its client's, and lasts as long as that. */
  goOn(response: ClientReply): void {
    this.#response = response;
    this.recorder?.follow(response);
    this.#listen(response);
  }

  #listen(response: ClientReply): void {
    this.#isClosed = response.destroyed;
    // A reply that has closed already does not close again, and its call may end with neither a charge nor an error.
    if (this.#isClosed) setImmediate(() => this.#endIfOver());
    response.on('close', () => {
      if (response !== this.#response) return;
      this.#isClosed = true;
      this.#whenClosed?.();
      this.#endIfOver();
    });
  }

  /**
   * Calls back when the client's connection is done with the call. There is one callback, because a further listener
   * costs each call half a microsecond.
   */
  whenClosed(callback: () => void): void {
    this.#whenClosed = callback;
  }

  /** The call is about to enter the books, or its exchange begins. The report waits until it is settled or refused. */
  exchanging(): void {
    this.#isExchanging = true;
  }

  settled(entry: CallEntry, error: GatewayError | undefined): void {
    this.entry = entry;
    this.error = error;
    this.#isExchanging = false;
    this.#endIfOver();
  }

  /** A call that costs nothing, and is not in the books, has ended. */
  ended(end: CallEnd, error: GatewayError | undefined): void {
    this.unbookedEnd = end;
    this.error = error;
    this.#isExchanging = false;
    this.#endIfOver();
  }

  /** The call is refused, and its client receives the error. */
  refused(error: GatewayError): void {
    this.error = error;
    // Node forgets the address of a connection that has ended, unless it was asked for it before.
    void this.request.socket.remoteAddress;
    this.#isExchanging = false;
    this.#endIfOver();
  }

  #endIfOver(): void {
    if (this.#isReported || !this.#isClosed || this.#isExchanging) return;
    this.#isReported = true;
    this.#onEnded(this);
  }

  /** Whether the report was made. It is made once. */
  get isReported(): boolean {
    return this.#isReported;
  }

  end(): ReportedEnd {
    if (this.entry !== undefined) return this.entry.end;
    if (this.unbookedEnd !== undefined) return this.unbookedEnd;
    if (this.error !== undefined) return 'refused';
    return this.response.headersSent ? 'finished' : 'client-left';
  }
}

/** The part of a report that the attempts of its call use. */
export type AttemptReport = Pick<CallReport, 'exchanging' | 'settled' | 'ended' | 'trace' | 'facts' | 'attemptStartedMs' | 'recorder'>;

/** The report of a call that the gateway makes for itself. */
export function createSilentReport(settled: AttemptReport['settled'] = () => {}): AttemptReport {
  return {
    facts: undefined,
    trace: undefined,
    recorder: undefined,
    attemptStartedMs: undefined,
    exchanging: () => {},
    settled,
    ended: () => {},
  };
}

/** Programs write their name first, before a slash. Only a short plain word is accepted. */
const agentName = /^[A-Za-z][A-Za-z0-9_.-]{0,31}(?=[/ ]|$)/;

function readAgent(header: string | undefined): string | undefined {
  return header === undefined ? undefined : agentName.exec(header)?.[0];
}

/** The labels of the gaps of a stream. */
export type StreamKind = {
  readonly dialect: string;
  readonly upstream: string;
  readonly vendor: string;
  readonly requestedModel: string;
};

/** Receives ended calls. */
export type CallSink = { readonly callsEnded: (calls: readonly EndedCall[]) => void };
