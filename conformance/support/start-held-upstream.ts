import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server of chat completions in the test's own process, whose answers wait until they are released: a call runs for
 * as long as a test needs it.
 */
export type HeldUpstream = {
  /** As an upstream of weir.yaml. */
  readonly upstream: { readonly vendor: 'openai-compatible'; readonly baseUrl: string; readonly apiKey: string };
  /** The number of calls that it received. */
  readonly asked: () => number;
  /** Answers every call, also later ones. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
};

const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_767_571_200,
  model: 'held',
  choices: [{ index: 0, message: { role: 'assistant', content: 'At last.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
});

export async function startHeldUpstream(): Promise<HeldUpstream> {
  const released = Promise.withResolvers<void>();
  let asked = 0;
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    asked += 1;
    request.resume();
    void released.promise.then(() => response.writeHead(200, { 'content-type': 'application/json' }).end(completion));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    upstream: { vendor: 'openai-compatible', baseUrl, apiKey: 'sk-held-0123456789abcdef' },
    asked: () => asked,
    release: released.resolve,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
