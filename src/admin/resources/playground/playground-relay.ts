import type { IncomingHttpHeaders } from 'node:http';

import { RelayError, type RelayedReply, type RelayLimits, relayRequest } from '../../../platform/http/relay-request.ts';
import type { PassedRequest } from '../../operation.ts';
import { AdminProblem, notFound, unavailable } from '../../problem.ts';
import { headersToGateway } from './passing-headers.ts';
import { createPlaygroundSockets, type SocketAnswer } from './playground-sockets.ts';
import { readTarget } from './read-target.ts';

const minuteMs = 60_000;

/** Limits of relayed calls: of each, of a session at a time, and of the console at a time. */
export const relayLimitsDefault: RelayLimits & { readonly ofSession: number; readonly ofAll: number } = {
  connectMs: 5000,
  // A model may think for minutes before its first byte, and a gateway has limits of its own.
  silenceMs: 15 * minuteMs,
  totalMs: 60 * minuteMs,
  requestBytesMax: 64 * 1024 * 1024,
  replyBytesMax: 512 * 1024 * 1024,
  ofSession: 16,
  ofAll: 64,
};

/** A connection waits so long for its next message. Each holds memory here and in the gateway. */
const idleMs = 5 * minuteMs;

type RelayCaller = { readonly sessionId: string; readonly secret: string };

/** The gateway, as the console reaches it. */
export type PlaygroundRelay = {
  /** Its address; undefined if the console does not know it. */
  readonly address: () => string | undefined;
  /**
   * Sends a request to the gateway with a key, and resolves with the head of the answer.
   * @throws AdminProblem; errors of the gateway itself are answers
   */
  readonly send: (request: PassedRequest, caller: RelayCaller, signal: AbortSignal) => Promise<RelayedReply>;
  /**
   * Sends a message on a WebSocket of the caller's session, which is opened if there is none of this name.
   * @throws AdminProblem; what the gateway answers instead of a WebSocket is an answer
   */
  readonly converse: (
    message: { readonly connection: string; readonly text: string },
    caller: RelayCaller,
    signal: AbortSignal,
  ) => Promise<SocketAnswer>;
  /** Ends all WebSockets. */
  readonly close: () => void;
};

export type RelayOptions = {
  readonly address: () => string | undefined;
  /** Whether the gateway has an interface with this method and path. */
  readonly serves: (method: string, path: string) => Promise<boolean>;
  readonly limits?: typeof relayLimitsDefault;
};

export function createPlaygroundRelay({ address, serves, limits = relayLimitsDefault }: RelayOptions): PlaygroundRelay {
  const running = new Map<string, number>();
  const sockets = createPlaygroundSockets({ ...limits, idleMs });
  let all = 0;

  function begin(sessionId: string): () => void {
    const own = running.get(sessionId) ?? 0;
    if (own >= limits.ofSession || all >= limits.ofAll) {
      const detail =
        own >= limits.ofSession ? `${own} calls of this session are under way` : 'Too many calls of the playground are under way';
      throw new AdminProblem('too_many_requests', `${detail}; wait for one, or end one.`, { headers: { 'retry-after': '1' } });
    }
    running.set(sessionId, own + 1);
    all += 1;
    return () => {
      all -= 1;
      const left = (running.get(sessionId) ?? 1) - 1;
      if (left === 0) running.delete(sessionId);
      else running.set(sessionId, left);
    };
  }

  /** @throws AdminProblem if nobody has set the address of a gateway */
  function known(): string {
    const origin = address();
    if (origin === undefined) throw new AdminProblem('conflict', noAddress);
    return origin;
  }

  return {
    address,
    close: sockets.close,
    converse: async ({ connection, text }, { sessionId, secret }, signal) => {
      const origin = known();
      try {
        return await sockets.send({ origin: new URL(origin), secret, sessionId, connection, text }, signal);
      } catch (error) {
        throw asProblem(error, origin);
      }
    },
    send: async ({ method, target, headers, body }, { sessionId, secret }, signal) => {
      const read = readTarget(target);
      if (read === undefined || !(await serves(method, read.path))) throw notFound(`interface of the gateway for ${method} with this path`);
      const origin = known();
      assertSize(headers, limits.requestBytesMax);
      const end = begin(sessionId);
      try {
        const request = { method, target: read.path + read.query, headers: headersToGateway(headers, secret), body };
        const reply = await relayRequest(new URL(origin), request, limits, signal);
        void reply.closed.then(end);
        return reply;
      } catch (error) {
        end();
        throw asProblem(error, origin);
      }
    },
  };
}

/** Says what to set. */
const noAddress =
  'The console does not know the address of a gateway: set console.gatewayUrl, such as http://127.0.0.1:8080, and start it again.';

/** @throws AdminProblem `body_too_large` before anything is sent */
function assertSize(headers: IncomingHttpHeaders, bytesMax: number): void {
  if (Number(headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
}

const tooLarge = (bytesMax: number): AdminProblem =>
  new AdminProblem('body_too_large', `The body must not be larger than ${bytesMax} bytes.`);

function asProblem(error: unknown, origin: string): unknown {
  if (!(error instanceof RelayError)) return error;
  const { failure, message: cause } = error;
  if (failure === 'too-large') return new AdminProblem('body_too_large', `The request was refused: ${cause}.`);
  if (failure === 'unreachable') return unavailable(`The gateway at ${origin} cannot be reached: ${cause}.`, error);
  if (failure === 'silent') return unavailable(`The gateway gave ${cause}.`, error);
  return unavailable(`The gateway ended the call without an answer: ${cause}.`, error);
}
