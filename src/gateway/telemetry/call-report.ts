import type { IncomingMessage } from 'node:http';

import type { CallEnd, CallEntry } from '../../billing/ledger/call-entry.ts';
import type { DialectId, Operation } from '../../dialects/dialect-id.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { InterfaceId } from '../../inference/interfaces.ts';
import type { ClientReply } from '../replies/client-reply.ts';
import type { CallTrace } from './call-trace.ts';

/** `refused`: the call ended before it was sent to any upstream. */
export type ReportedEnd = CallEnd | 'refused';

/** What is known of a call when it is over. Sinks read it and keep nothing of it. */
export type EndedCall = {
  readonly report: CallReport;
  readonly end: ReportedEnd;
  /** Status that was sent to the client; absent where it left before one was. */
  readonly status: number | undefined;
  /** From acceptance to the end of the exchange. */
  readonly durationMs: number;
};

/** What a call is known by in logs, metrics and traces: its interface. */
export type CallLabel = DialectId | InterfaceId;

export type CallStart = {
  readonly callId: string;
  readonly dialect: CallLabel;
  /** Absent where a request never got as far as being a call. */
  readonly operation?: Operation | undefined;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
};

/**
 * What one call tells of itself on its road. The stations set what they learn; the call is reported once, when its client's connection is done with it
 * and the books are too, whichever comes last.
 */
export class CallReport {
  readonly callId: string;
  readonly dialect: CallLabel;
  readonly operation: Operation | undefined;
  #response: ClientReply;
  readonly acceptedAtMs: number;
  /** Monotonic. */
  readonly startedMs: number;
  /** The client program's name, as far as it is a plain word. */
  readonly agent: string | undefined;
  readonly trace: CallTrace | undefined;
  /** Set when the key is known. */
  caller: { readonly userName: string; readonly name: string } | undefined;
  /** Set when the request is read. */
  facts: { readonly requestedModel: string; readonly stream: boolean } | undefined;
  /** Milliseconds that the call waited for its turn, where it had to. */
  queueMs: number | undefined;
  /** Monotonic time at which the last attempt was sent. */
  attemptStartedMs: number | undefined;
  entry: CallEntry | undefined;
  error: GatewayError | undefined;
  /** How a call ended that is in no books. */
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
    this.acceptedAtMs = began.acceptedAtMs;
    this.startedMs = began.startedMs;
    this.trace = began.trace;
    this.agent = readAgent(request.headers['user-agent']);
    this.#onEnded = onEnded;
    this.#isClosed = response.destroyed;
    this.#listen(response);
  }

  /** Where the call's reply is written. */
  get response(): ClientReply {
    return this.#response;
  }

  /** The call goes on behind another reply than its client's: it lasts as long as that. */
  goOn(response: ClientReply): void {
    this.#response = response;
    this.#isClosed = response.destroyed;
    this.#listen(response);
  }

  #listen(response: ClientReply): void {
    response.on('close', () => {
      if (response !== this.#response) return;
      this.#isClosed = true;
      this.#whenClosed?.();
      this.#endIfOver();
    });
  }

  /** Calls back when the client's connection is done with the call. For one that has to know: a listener more costs each call half a microsecond. */
  whenClosed(callback: () => void): void {
    this.#whenClosed = callback;
  }

  /** The call goes into the books, or its exchange begins: it will be settled or refused, and the report waits for that. */
  exchanging(): void {
    this.#isExchanging = true;
  }

  /** The call is in the books. */
  settled(entry: CallEntry, error: GatewayError | undefined): void {
    this.entry = entry;
    this.error = error;
    this.#isExchanging = false;
    this.#endIfOver();
  }

  /** A call that costs nothing, and is in no books, has ended. */
  ended(end: CallEnd, error: GatewayError | undefined): void {
    this.unbookedEnd = end;
    this.error = error;
    this.#isExchanging = false;
    this.#endIfOver();
  }

  /** The call is refused: its client is told why. */
  refused(error: GatewayError): void {
    this.error = error;
    this.#isExchanging = false;
    this.#endIfOver();
  }

  #endIfOver(): void {
    if (this.#isReported || !this.#isClosed || this.#isExchanging) return;
    this.#isReported = true;
    this.#onEnded(this);
  }

  /** How it ended, for those who tell. */
  end(): ReportedEnd {
    if (this.entry !== undefined) return this.entry.end;
    if (this.unbookedEnd !== undefined) return this.unbookedEnd;
    if (this.error !== undefined) return 'refused';
    return this.response.headersSent ? 'finished' : 'client-left';
  }
}

/** As much of a report as the attempts of its call know. */
export type AttemptReport = Pick<CallReport, 'exchanging' | 'settled' | 'ended' | 'trace' | 'facts' | 'attemptStartedMs'>;

/** The report of a call that the gateway makes for itself. */
export function createUnheardReport(settled: AttemptReport['settled'] = () => {}): AttemptReport {
  return { facts: undefined, trace: undefined, attemptStartedMs: undefined, exchanging: () => {}, settled, ended: () => {} };
}

/** Programs name themselves first, before a slash. Anything else than a short plain word is nobody's name. */
const agentName = /^[A-Za-z][A-Za-z0-9_.-]{0,31}(?=[/ ]|$)/;

function readAgent(header: string | undefined): string | undefined {
  return header === undefined ? undefined : agentName.exec(header)?.[0];
}

/** What the gaps of a stream are counted by. */
export type StreamKind = {
  readonly dialect: string;
  readonly upstream: string;
  readonly vendor: string;
  readonly requestedModel: string;
};

/** Something that calls are told to. */
export type CallSink = { readonly callsEnded: (calls: readonly EndedCall[]) => void };
