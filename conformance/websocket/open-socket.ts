import { once } from 'node:events';

import { WebSocket } from 'ws';

export type SocketEvent = { readonly type: string; readonly [member: string]: any };

/** A minimal client of the WebSocket form of Responses. */
export type TestSocket = {
  readonly webSocket: WebSocket;
  readonly create: (body: object) => void;
  /** The next event. Fails if none arrives in time. */
  readonly next: () => Promise<SocketEvent>;
  /** The events up to and including the next that ends a response or is an error. */
  readonly rest: () => Promise<readonly SocketEvent[]>;
  /** The code of its close. */
  readonly closed: Promise<number>;
  readonly close: () => Promise<void>;
};

const limitMs = 60_000;
const endings = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

export async function openSocket(gatewayUrl: string, apiKey: string, headers: Readonly<Record<string, string>> = {}): Promise<TestSocket> {
  const webSocket = new WebSocket(`${gatewayUrl.replace(/^http/, 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${apiKey}`, 'openai-beta': 'responses_websockets=2026-02-06', ...headers },
  });
  const events: SocketEvent[] = [];
  let onEvent: (() => void) | undefined;
  webSocket.on('message', (data: Buffer) => {
    events.push(JSON.parse(data.toString()) as SocketEvent);
    onEvent?.();
  });
  const closed = new Promise<number>((resolve) => webSocket.on('close', (code) => resolve(code)));
  await once(webSocket, 'open');
  const next = async (): Promise<SocketEvent> => {
    const deadline = AbortSignal.timeout(limitMs);
    for (;;) {
      const event = events.shift();
      if (event !== undefined) return event;
      await new Promise<void>((resolve, reject) => {
        onEvent = resolve;
        deadline.onabort = () => reject(new Error('no event arrived in time'));
      });
    }
  };
  return {
    webSocket,
    create: (body) => webSocket.send(JSON.stringify({ type: 'response.create', ...body })),
    next,
    rest: async () => {
      const all: SocketEvent[] = [];
      for (;;) {
        const event = await next();
        all.push(event);
        if (endings.has(event.type)) return all;
      }
    },
    closed,
    close: async () => {
      webSocket.close();
      await closed;
    },
  };
}
