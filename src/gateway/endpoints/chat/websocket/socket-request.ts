import { IncomingMessage } from 'node:http';

/** What belongs to the upgrade, and not to the calls that come over it. */
const ofTheUpgrade = /^(?:connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|accept|accept-encoding|expect)$/;
/** Says to the gateway that a WebSocket is wanted. An upstream is spoken to over plain HTTP. */
const websocketBeta = /^responses_websockets=/;

/**
 * A message of a WebSocket as the request that it stands for: the body of a POST, with the headers of the upgrade. It has come whole, and never touches
 * the connection, which is the WebSocket's.
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
    const kept = key === 'openai-beta' ? withoutWebsocketBeta(value) : value;
    if (kept === '') return;
    this.rawHeaders.push(name, kept);
    // Repeated headers are joined as Node joined them.
    this.headers[key] = key === 'openai-beta' ? kept : headers[key];
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
