import { connect } from 'node:net';

import { request } from 'undici';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: any;
};

/** Makes one HTTP call and reads its whole answer. */
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
    // Some answers are not JSON; a test that expects JSON gets undefined.
  }
  return { status: statusCode, headers, text, json };
}

/** Posts a value as JSON. */
export function post(url: string, value: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return call(url, { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) });
}

/**
 * A limit that only prevents hanging: on a machine that is busy with other suites everything takes several times as
 * long. Tests of speed have their own limits.
 */
export const patienceMs = 30_000;

/**
 * Sends raw bytes to a server and collects the answer until the server closes, until `until` is satisfied, or until the
 * time is over.
 */
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
      // A server that has answered and closes does not read on, which resets the rest of the client's data.
      if (text !== '') resolve(text);
      else reject(error);
    });
  });
}

/** Waits until connections are refused: the gateway has received its signal. */
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

/** Polls until a value exists. Fails with the last value after the limit. */
export async function eventually<Value>(
  read: () => Promise<Value> | Value,
  isThere: (value: Value) => boolean,
  limitMs = patienceMs,
): Promise<Value> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await read();
    if (isThere(value)) return value;
    if (performance.now() > deadline) throw new Error(`no value within ${limitMs} ms; last: ${JSON.stringify(value)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
