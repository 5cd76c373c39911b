import type { IncomingCall } from '../incoming-call.ts';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { RawData, WebSocket } from 'ws';

import { openaiResponses } from '../../../../dialects/openai-responses/openai-responses.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import { membersOf, objectOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import { writeJson } from '../../../../platform/json/write-json.ts';
import { EventReply, type WholeAnswer } from '../../../replies/event-reply.ts';
import type { ChatServices } from '../chat-services.ts';
import { readJsonObject } from '../../../admission/read-request.ts';
import { describeWarmUp, readClientEvent } from './client-event.ts';
import { LastResponse, namePrevious } from './last-response.ts';
import { SocketRequest } from './socket-request.ts';
import { SocketWriter } from './socket-writer.ts';

export type ResponseSocketOptions = {
  readonly gateway: ChatServices;
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  /** The request that opened the connection. */
  readonly upgrade: IncomingMessage;
  readonly queryKeys: readonly string[];
  /** Runs a call, and answers its refusal as its reply. */
  readonly run: (call: IncomingCall) => void;
  /** Whether the key may still be used, for messages that need no call. @throws GatewayError */
  readonly checkKey: () => Promise<void>;
};

/** The lifetime of a connection, as at the vendor, and the interval at which its client is checked. */
const lifetimeMs = 60 * 60 * 1000;
const pingMs = 30_000;
/** The most messages that may wait for the current response. */
const waitingMax = 8;
const closeWithinMs = 1000;
const goingAway = 1001;

/**
 * One WebSocket. Each message of its client is an ordinary call, one after the other, and the events of its stream are
 * messages. An HTTP error of a call becomes an `error` event.
 */
export class ResponseSocket {
  readonly #options: ResponseSocketOptions;
  readonly #writer: SocketWriter;
  readonly #last: LastResponse;
  readonly #pingTimer: NodeJS.Timeout;
  readonly #lifeTimer: NodeJS.Timeout;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isBusy = false;
  #isAlive = true;
  #isExpired = false;
  #isLeaving = false;
  #reply: EventReply | undefined;

  constructor(options: ResponseSocketOptions) {
    this.#options = options;
    const { webSocket, socket, gateway } = options;
    this.#writer = new SocketWriter(webSocket, socket);
    this.#last = new LastResponse(gateway.settings().limits.requestBytesMax);
    this.#pingTimer = setInterval(() => this.#ping(), pingMs).unref();
    this.#lifeTimer = setTimeout(() => this.#expire(), lifetimeMs).unref();
    webSocket.on('message', (data, isBinary) => this.#take(data, isBinary));
    webSocket.on('pong', () => (this.#isAlive = true));
    webSocket.on('error', (error) => gateway.logger.debug({ err: error }, 'connection of a WebSocket failed'));
    webSocket.on('close', () => this.#closed());
  }

  /** Closes the connection as soon as no response is being generated. */
  leave(): void {
    this.#isLeaving = true;
    this.#closeIfIdle();
  }

  terminate(): void {
    this.#options.webSocket.terminate();
  }

  #take(data: RawData, isBinary: boolean): void {
    this.#isAlive = true;
    if (isBinary)
      return this.#refuse(new GatewayError('invalid_json', 'messages must be text frames with a JSON object; got a binary frame'));
    const bytes = Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
    if (this.#waiting.length >= waitingMax || this.#waitingBytes + bytes.length > this.#limits().requestBytesMax) {
      const message = 'A response is being generated on this connection, and too many requests wait for it. Wait until it ends.';
      return this.#refuse(new GatewayError('invalid_value', message, { details: { openai_code: 'response_already_in_flight' } }));
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#next();
  }

  #limits() {
    return this.#options.gateway.settings().limits;
  }

  #next(): void {
    if (this.#isBusy) return;
    if (this.#isExpired) return this.#expire();
    const bytes = this.#waiting.shift();
    if (bytes === undefined) return this.#closeIfIdle();
    this.#waitingBytes -= bytes.length;
    this.#isBusy = true;
    this.#serve(bytes).catch((error: unknown) => {
      const { logger } = this.#options.gateway;
      if (!(error instanceof GatewayError)) logger.error({ err: error }, 'message of a WebSocket failed inside the gateway');
      this.#refuse(error instanceof GatewayError ? error : new GatewayError('internal_error', 'the gateway failed on this message'));
      this.#over();
    });
  }

  async #serve(bytes: Buffer): Promise<void> {
    const { body, generate } = readClientEvent(await readJsonObject(bytes, this.#limits()));
    const { body: whole, isContinued } = this.#last.continue(body);
    const previousId = isContinued ? textOf(body.previous_response_id) : undefined;
    if (generate) return await this.#call(whole, previousId);
    await this.#warmUp(whole);
  }

  /** Answers a client that only sends context, with an empty response that is free. */
  async #warmUp(body: JsonObject): Promise<void> {
    const { gateway, checkKey } = this.#options;
    await checkKey();
    openaiResponses.validateRequest({ operation: 'generate', body, headers: {} }, gateway.settings().validation);
    const { response, events } = describeWarmUp(gateway.newId('resp'), body, gateway.clock.nowMs());
    this.#last.remember(body, response);
    for (const event of events) this.#writer.send(event);
    this.#over();
  }

  async #call(body: JsonObject, previousId: string | undefined): Promise<void> {
    const { gateway, upgrade, queryKeys, run, webSocket } = this.#options;
    const written = await writeJson(body);
    if (webSocket.readyState !== webSocket.OPEN) return;
    const reply = new EventReply({
      event: (event) => this.#pass(event, body, previousId),
      whole: (answer) => this.#passError(answer),
      ended: () => this.#writer.whenSent(() => reply.finish()),
      isFull: () => this.#writer.isFull(),
      watchStall: (ms, onTimeout) => this.#writer.watchStall(ms, onTimeout),
      destroyed: () => webSocket.terminate(),
    });
    this.#reply = reply;
    this.#writer.whenRoom(() => reply.resume());
    reply.on('close', () => this.#over());
    run({
      callId: gateway.newId('req'),
      request: new SocketRequest(upgrade, written),
      response: reply,
      dialect: openaiResponses,
      operation: 'generate',
      queryKeys,
    });
  }

  #pass(received: StreamEvent, body: JsonObject, previousId: string | undefined): void {
    const { event: name, data } = received;
    const isEnd = name === undefined || name === 'response.completed' || name === 'response.incomplete';
    const event = isEnd || previousId !== undefined ? received.object() : undefined;
    const response = isEnd ? objectOf(event?.response) : undefined;
    if (response !== undefined && (event?.type === 'response.completed' || event?.type === 'response.incomplete')) {
      // Other processes find a stored response. Only a response that is not stored must be remembered here.
      if (body.store === false) this.#last.remember(body, response);
      else this.#last.forget();
    }
    if (name === 'response.failed') this.#last.forget();
    this.#writer.send(event === undefined || previousId === undefined ? data : JSON.stringify(namePrevious(event, previousId)));
  }

  #passError({ status, headers, body }: WholeAnswer): void {
    this.#last.forget();
    const error = membersOf(parseJsonObject(body)?.error);
    const passed = Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-|^connection$/.test(name)));
    this.#writer.send(JSON.stringify({ type: 'error', status, error, headers: passed }));
  }

  /** Answers a message that does not become a call. */
  #refuse(error: GatewayError): void {
    const { status, headers, body } = openaiResponses.voice.encodeError(error, this.#options.gateway.newId('req'));
    const { error: encoded } = membersOf(parseJsonObject(body));
    this.#writer.send(JSON.stringify({ type: 'error', status, error: encoded, headers: { ...error.headers, ...retryHeader(headers) } }));
  }

  #over(): void {
    this.#reply = undefined;
    this.#writer.whenRoom(undefined);
    this.#isBusy = false;
    this.#next();
  }

  #expire(): void {
    this.#isExpired = true;
    if (this.#isBusy) return;
    const message = 'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.';
    this.#refuse(new GatewayError('invalid_value', message, { details: { openai_code: 'websocket_connection_limit_reached' } }));
    this.#close('the connection has reached its 60 minutes');
  }

  #closeIfIdle(): void {
    if (this.#isLeaving && !this.#isBusy && this.#waiting.length === 0) this.#close('the gateway is shutting down');
  }

  #close(reason: string): void {
    const { webSocket } = this.#options;
    this.#waiting = [];
    webSocket.close(goingAway, reason);
    // A client that does not answer the close must not keep the connection open.
    setTimeout(() => webSocket.terminate(), closeWithinMs).unref();
  }

  #ping(): void {
    // A client that has not read its data yet is handled by the limit for stalled readers.
    if (this.#options.webSocket.bufferedAmount > 0) return;
    if (!this.#isAlive) return this.terminate();
    this.#isAlive = false;
    this.#options.webSocket.ping();
  }

  #closed(): void {
    clearInterval(this.#pingTimer);
    clearTimeout(this.#lifeTimer);
    this.#writer.close();
    this.#waiting = [];
    this.#isExpired = false;
    this.#reply?.leave();
  }
}

function retryHeader(headers: Readonly<Record<string, string>>): Record<string, string> {
  const after = headers['retry-after'];
  return after === undefined ? {} : { 'retry-after': after };
}
