import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

/** An answer of the admin API. Tests read its members by their names. */
export type ApiAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
};

export type ConsoleClient = {
  /** Sends a request as a page of the console does: with the session cookie, and a key for each POST. */
  readonly send: (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<ApiAnswer>;
  /** The session cookie as it is now: `weir_session=…`, or empty. */
  readonly cookie: () => string;
};

/** A browser without a session. */
export function openBrowser(consoleUrl: string): ConsoleClient {
  let cookie = '';
  return {
    cookie: () => cookie,
    send: async (method, path, body, headers = {}) => {
      const response = await fetch(`${consoleUrl}${path}`, {
        method,
        headers: {
          'sec-fetch-site': 'same-origin',
          ...(cookie !== '' && { cookie }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const set = response.headers.getSetCookie().at(-1);
      if (set !== undefined) cookie = set.split(';', 1)[0]?.replace(/=$/, '') === 'weir_session' ? '' : (set.split(';', 1)[0] ?? '');
      return await readAnswer(response);
    },
  };
}

async function readAnswer(response: Response): Promise<ApiAnswer> {
  const text = await response.text();
  const parsed: unknown =
    /application\/(?:problem\+)?json\b/.test(response.headers.get('content-type') ?? '') && text.startsWith('{') ? JSON.parse(text) : {};
  assert.ok(typeof parsed === 'object' && parsed !== null);
  return { status: response.status, headers: response.headers, body: { ...parsed }, text };
}

/** A browser that signed in by the link that the start printed. */
export async function signInByLink(consoleUrl: string, link: string): Promise<ConsoleClient> {
  const browser = openBrowser(consoleUrl);
  const code = new URL(link).hash.replace(/^#in=/, '');
  const answer = await browser.send('POST', '/api/v1/session', { code });
  assert.equal(answer.status, 201, answer.text);
  return browser;
}

/** A client with an admin token. */
export function tokenClient(consoleUrl: string, token: string): ConsoleClient {
  return {
    cookie: () => '',
    send: async (method, path, body, headers = {}) =>
      await readAnswer(
        await fetch(`${consoleUrl}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      ),
  };
}
