import type { Receipt } from '../../../src/billing/receipts/receipt.ts';
import { type ApiProblem, toProblem } from '../api/problem.ts';
import type { Reply, StreamEvent } from './conversation.ts';

export type TimedEvent = StreamEvent & { readonly atMs: number };

/** What was sent: exactly the text that was shown, with marks in the place of pictures. `WS` is a message of a WebSocket. */
export type Sent = { readonly method: 'GET' | 'POST' | 'WS'; readonly path: string; readonly body: string };

/** One call, from its start to its receipt. Times are milliseconds since its start. */
export type Run = {
  readonly sent: Sent;
  readonly title: string;
  readonly keyId: string | undefined;
  readonly state: 'running' | 'ended';
  readonly isStopped: boolean;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
  readonly reply: Reply | undefined;
  readonly events: readonly TimedEvent[];
  /** An answer of the interface that is an error, as it came. */
  readonly refusal: string | undefined;
  /** A refusal of the console itself. */
  readonly problem: ApiProblem | undefined;
  /** `none`: the call ended without one. */
  readonly receipt: Receipt | 'asked' | 'none' | undefined;
};

export const startRun = (sent: Sent, title: string): Run => ({
  sent,
  title,
  keyId: undefined,
  state: 'running',
  isStopped: false,
  status: undefined,
  requestId: undefined,
  firstMs: undefined,
  totalMs: undefined,
  reply: undefined,
  events: [],
  refusal: undefined,
  problem: undefined,
  receipt: undefined,
});

/** The part of a run that says how it failed. A stop is no failure. */
export function failureOf(error: unknown, signal: AbortSignal): Pick<Run, 'isStopped' | 'problem'> {
  return signal.aborted ? { isStopped: true, problem: undefined } : { isStopped: false, problem: toProblem(error) };
}

/** What an official SDK throws for a status. */
export function sdkError(sdk: 'anthropic' | 'openai' | 'genai', status: number): string {
  if (sdk === 'genai') return 'ApiError of @google/genai';
  const name = errorNames[status] ?? (status >= 500 ? 'InternalServerError' : 'APIError');
  return `${sdk === 'anthropic' ? 'Anthropic' : 'OpenAI'}.${name}`;
}

const errorNames: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  409: 'ConflictError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
};
