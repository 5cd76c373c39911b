import type { IncomingCall } from '../incoming-call.ts';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { WebSocketServer } from 'ws';

import type { ErrorVoice } from '../../../../dialects/error-voice.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { findCaller } from '../../../admission/enter.ts';
import { checkHost, readRequestTarget } from '../../../admission/read-request.ts';
import { requestIdHeader } from '../../../replies/write-reply.ts';
import type { ChatServices } from '../chat-services.ts';
import { ResponseSocket } from './response-socket.ts';

/** The WebSocket form of `/v1/responses`. */
export type ResponseSockets = {
  /** Opens a connection for a request with `Upgrade: websocket`, or answers in HTTP why it cannot. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Accepts no more connections, and closes each when it is idle. After the grace period it terminates the rest. */
  readonly end: (graceMs: number) => void;
};

const afterGraceMs = 1000;

type VoiceOfPath = (path: string, headers: IncomingMessage['headers']) => ErrorVoice;

/** @param run runs a call and answers its refusal */
export function createResponseSockets(options: {
  readonly gateway: ChatServices;
  readonly run: (call: IncomingCall) => void;
  /** How errors of a path are worded. Upgrades can name any path. */
  readonly voiceOfPath: VoiceOfPath;
}): ResponseSockets {
  const { gateway, run, voiceOfPath } = options;
  const open = new Set<ResponseSocket>();
  let isEnding = false;

  const checkKey = async (request: IncomingMessage, queryKeys: readonly string[]): Promise<void> => {
    await findCaller(gateway, request, queryKeys);
  };

  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const target = readRequestTarget(request.url ?? '/');
    if (target === undefined || !isResponsesPath(target.path))
      throw new GatewayError('upgrade_required', 'this path does not accept WebSockets; send the request over plain HTTP as POST');
    checkHost(request);
    if (isEnding) throw new GatewayError('shutting_down', 'the gateway is shutting down; connect again', { retryAfterSeconds: 1 });
    const { queryKeys } = target;
    await checkKey(request, queryKeys);
    if (socket.destroyed || !(socket instanceof Socket)) return void socket.destroy();
    openSocket(request, socket, head, queryKeys);
  };

  const openSocket = (upgrade: IncomingMessage, socket: Socket, head: Buffer, queryKeys: readonly string[]): void => {
    // Frames are not compressed, because compression costs tens of kilobytes for each connection.
    const maxPayload = gateway.settings().limits.requestBytesMax;
    const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload });
    server.on('headers', (headers) => headers.push(`${requestIdHeader}: ${gateway.newId('req')}`));
    server.handleUpgrade(upgrade, socket, head, (webSocket) => {
      const check = (): Promise<void> => checkKey(upgrade, queryKeys);
      const opened = new ResponseSocket({ gateway, webSocket, socket, upgrade, queryKeys, run, checkKey: check });
      open.add(opened);
      webSocket.once('close', () => open.delete(opened));
      if (isEnding) opened.leave();
    });
  };

  return {
    upgrade: (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      accept(request, socket, head).catch((error: unknown) => refuse({ gateway, voiceOfPath }, request, socket, error));
    },
    end: (graceMs) => {
      isEnding = true;
      for (const each of open) each.leave();
      setTimeout(() => open.forEach((each) => each.terminate()), graceMs + afterGraceMs).unref();
    },
  };
}

function isResponsesPath(path: string): boolean {
  return path === '/v1/responses' || path === '/v1/responses/';
}

/** Answers a failed upgrade at once, so that agent programs fall back to plain HTTP without delay. */
function refuse(
  { gateway, voiceOfPath }: { readonly gateway: ChatServices; readonly voiceOfPath: VoiceOfPath },
  request: IncomingMessage,
  socket: Duplex,
  error: unknown,
): void {
  const callId = gateway.newId('req');
  const refusal = error instanceof GatewayError ? error : new GatewayError('internal_error', 'the gateway failed on this connection');
  if (!(error instanceof GatewayError)) gateway.logger.error({ callId, err: error }, 'opening a WebSocket failed');
  gateway.telemetry.malformed(refusal.code);
  if (refusal.class === 'authentication') gateway.gatekeeper.wasRefused(request, 0);
  const path = readRequestTarget(request.url ?? '/')?.path ?? '/';
  const { status, headers, body } = voiceOfPath(path, request.headers).encodeError(refusal, callId);
  const all = { ...headers, ...refusal.headers, [requestIdHeader]: callId, 'content-length': String(body.length), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`), body]));
}
