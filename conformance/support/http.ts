import { connect } from 'node:net';

import { request } from 'undici';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: any;
};

/** One HTTP call, its whole answer read. */
export async function call(
  url: string,
  options: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer } = {},
): Promise<Answer> {
  const method = (options.method ?? (options.body === undefined ? 'GET' : 'POST')) as 'GET';
  const { statusCode, headers, body } = await request(url, { method, headers: { ...options.headers }, body: options.body ?? null });
  const text = await body.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Not every answer is JSON; the test that wants it finds undefined.
  }
  return { status: statusCode, headers, text, json };
}

/** Posts a value as JSON. */
export function post(url: string, value: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return call(url, { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) });
}

/**
 * What protects against hanging only: on a machine that is busy with other suites everything takes several times as long. Who has to prove that something is quick says how quick.
 */
export const patienceMs = 30_000;

/** Sends raw bytes to a server and collects what comes back until it closes, or until `until` is satisfied, or the time is over. */
export function rawExchange(
  url: string,
  bytes: string | Buffer,
  options: { readonly until?: (text: string) => boolean; readonly end?: boolean; readonly limitMs?: number } = {},
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(finish, options.limitMs ?? patienceMs);
    socket.on('connect', () => {
      socket.write(bytes);
      if (options.end === true) socket.end();
    });
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (options.until?.(text) === true) finish();
    });
    socket.on('close', finish);
    socket.on('error', (error) => {
      clearTimeout(timer);
      // Who has answered and closes does not read on, which resets what is still on its way to it.
      if (text !== '') resolve(text);
      else reject(error);
    });
  });
}

/** Waits until nobody takes connections any more: the gateway has heard the signal that was sent to it. */
export async function untilRefused(gatewayUrl: string): Promise<void> {
  await eventually(
    () =>
      call(`${gatewayUrl}/health`).then(
        () => false,
        () => true,
      ),
    (isRefused) => isRefused,
  );
}

/** Polls until a value is there. Fails with the last value when it is not in time. */
export async function eventually<Value>(
  read: () => Promise<Value> | Value,
  isThere: (value: Value) => boolean,
  limitMs = patienceMs,
): Promise<Value> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await read();
    if (isThere(value)) return value;
    if (performance.now() > deadline)
      throw new Error(`not there within ${limitMs} ms; last seen: ${JSON.stringify(value)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
