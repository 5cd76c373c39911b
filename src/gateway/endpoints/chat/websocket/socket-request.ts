import { IncomingMessage } from 'node:http';

/** Headers of the upgrade that do not belong to the calls over the connection. */
const ofTheUpgrade = /^(?:connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|accept|accept-encoding|expect)$/;
/** This header means that the client uses WebSockets. Upstreams are called over plain HTTP. */
const websocketBeta = /^responses_websockets=/;

/**
 * A message of a WebSocket as a request: the body of a POST, with the headers of the upgrade. It is complete, and never
 * touches the connection, which belongs to the WebSocket.
 */
export class SocketRequest extends IncomingMessage {
  constructor(upgrade: IncomingMessage, body: Buffer) {
    super(upgrade.socket);
    this.method = 'POST';
    this.url = upgrade.url ?? '/v1/responses';
    this.httpVersion = upgrade.httpVersion;
    const { rawHeaders } = upgrade;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2)
      this.#copy(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '', upgrade);
    this.#set('content-type', 'application/json');
    this.#set('content-length', String(body.length));
    this.complete = true;
    this.push(body);
    this.push(null);
  }

  #copy(name: string, value: string, { headers }: IncomingMessage): void {
    const key = name.toLowerCase();
    if (ofTheUpgrade.test(key)) return;
    const remaining = key === 'openai-beta' ? withoutWebsocketBeta(value) : value;
    if (remaining === '') return;
    this.rawHeaders.push(name, remaining);
    // Node has joined repeated headers.
    this.headers[key] = key === 'openai-beta' ? remaining : headers[key];
  }

  #set(name: string, value: string): void {
    this.rawHeaders.push(name, value);
    this.headers[name] = value;
  }

  /** There is nothing to read from the connection. */
  override _read(): void {}
}

function withoutWebsocketBeta(value: string): string {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => !websocketBeta.test(each))
    .join(', ');
}
