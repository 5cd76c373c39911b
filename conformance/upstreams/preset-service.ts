import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { request } from 'undici';
import type { RunningSimulator } from 'weir-simulator';

/** A request as it reached the service. */
type Received = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

/**
 * A service at one host that speaks several dialects below paths of its own. The simulated vendors answer, each for the
 * interface in which the path ends.
 */
export type PresetService = {
  readonly address: string;
  readonly received: () => readonly Received[];
  readonly close: () => Promise<void>;
};

/** The simulated vendor's address of an interface, and its header for the key. */
function findVendor(
  url: string,
  addresses: RunningSimulator['addresses'],
  key: string,
): readonly [string, Readonly<Record<string, string>>] {
  if (/:(?:stream)?generateContent/i.test(url)) return [addresses.gemini + url.slice(url.indexOf('/v1beta')), { 'x-goog-api-key': key }];
  if (url.endsWith('/messages')) return [`${addresses.anthropic}/v1/messages`, { 'x-api-key': key, 'anthropic-version': '2023-06-01' }];
  const path = url.endsWith('/responses') ? '/responses' : '/chat/completions';
  return [addresses.openai + path, { authorization: `Bearer ${key}` }];
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** @param key the key that the simulated vendors accept */
export async function startPresetService(addresses: () => RunningSimulator['addresses'], key: string): Promise<PresetService> {
  const received: Received[] = [];
  const answerCall = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readAll(incoming);
    const url = incoming.url ?? '';
    received.push({ url, headers: incoming.headers, body });
    const [target, credential] = findVendor(url, addresses(), key);
    const answer = await request(target, { method: 'POST', headers: { 'content-type': 'application/json', ...credential }, body });
    response.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) }).end(await answer.body.text());
  };
  const server = createServer((incoming, response) => void answerCall(incoming, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
