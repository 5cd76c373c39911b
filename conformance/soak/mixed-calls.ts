import { freeRoutes, paidRoutes, type RouteCaller } from '../books/paid-routes.ts';
import { signInByLink } from '../admin/console-client.ts';
import { openCall } from '../support/open-call.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import type { RunningWeir } from '../support/start-weir.ts';

/** A kind of call beside the chats of the steady load. Resolves to its failure, or undefined. */
export type MixedCall = { readonly name: string; readonly go: () => Promise<string | undefined> };

const daySeconds = 86_400;
const leaveAfterMs = 150;

const failureOf = ({ status, text }: Pick<Answer, 'status' | 'text'>): string | undefined =>
  status >= 200 && status < 300 ? undefined : `${status} ${text.slice(0, 300)}`;

/**
 * Every interface of the gateway, and the readers of its books: each paid route as it is and translated, free routes,
 * files and their search, clients that leave, repeated keys, the monitor and the console. Makes what they need first.
 */
export async function openMixedCalls(weir: RunningWeir): Promise<readonly MixedCall[]> {
  const { gatewayUrl, apiKey } = weir;
  const headers = { authorization: `Bearer ${apiKey}` };
  const created = await post(`${gatewayUrl}/v1/video/generations`, { model: 'grok-imagine-video', prompt: 'a kite', duration: 2 }, headers);
  const video = String(created.json?.id);
  await eventually(
    () => call(`${gatewayUrl}/v1/videos/${video}`, { headers }),
    ({ json }) => json?.status === 'completed',
    60_000,
  );
  const caller: RouteCaller = { gatewayUrl, key: apiKey, video };
  const routes = [
    ...paidRoutes.map(({ name, go }): MixedCall => ({ name, go: async () => failureOf(await go(caller)) })),
    ...freeRoutes.map(([name, status, path, body]): MixedCall => {
      const version = path.startsWith('/v1/messages') ? { 'anthropic-version': '2023-06-01' } : {};
      const go = async () => {
        const answer = await post(`${gatewayUrl}${path}`, body, { ...headers, ...version });
        return answer.status === status ? undefined : `${answer.status} ${answer.text.slice(0, 300)}`;
      };
      return { name, go };
    }),
  ];
  return [...routes, ...objectCalls(caller), ...clientCalls(caller), ...(await readerCalls(weir))];
}

/** Things that are stored, read and deleted. */
function objectCalls({ gatewayUrl, key, video }: RouteCaller): readonly MixedCall[] {
  const headers = { authorization: `Bearer ${key}` };
  const remove = (path: string) => call(`${gatewayUrl}${path}`, { method: 'DELETE', headers });
  const text = 'The harbour master of Eastquay is called Ottilie Brand. '.repeat(40);
  return [
    {
      name: 'a file, its search, and their end',
      go: async () => {
        const form = `--cut\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nassistants\r\n--cut\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n${text}\r\n--cut--\r\n`;
        const file = await call(`${gatewayUrl}/v1/files`, {
          headers: { ...headers, 'content-type': 'multipart/form-data; boundary=cut' },
          body: form,
        });
        const store = await post(`${gatewayUrl}/v1/vector_stores`, { file_ids: [file.json?.id] }, headers);
        const path = `/v1/vector_stores/${store.json?.id}`;
        await eventually(
          () => call(`${gatewayUrl}${path}`, { headers }),
          ({ json }) => json?.status === 'completed',
        );
        const found = await post(`${gatewayUrl}${path}/search`, { query: 'harbour master' }, headers);
        const ends = [await remove(path), await remove(`/v1/files/${file.json?.id}`)];
        return [file, store, found, ...ends].map(failureOf).find((failure) => failure !== undefined);
      },
    },
    {
      name: 'a stored response, continued and deleted',
      go: async () => {
        const first = await post(`${gatewayUrl}/v1/responses`, { model: 'gpt-4.1', input: 'one', store: true }, headers);
        const next = { model: 'claude-sonnet-4-5', input: 'two', previous_response_id: first.json?.id };
        const second = await post(`${gatewayUrl}/v1/responses`, next, headers);
        return [first, second, await remove(`/v1/responses/${second.json?.id}`)].map(failureOf).find((failure) => failure !== undefined);
      },
    },
    { name: 'the bytes of a video', go: async () => failureOf(await call(`${gatewayUrl}/v1/videos/${video}/content`, { headers })) },
  ];
}

/** Clients that repeat, leave, or are refused. */
function clientCalls({ gatewayUrl, key }: RouteCaller): readonly MixedCall[] {
  const headers = { authorization: `Bearer ${key}` };
  let number = 0;
  const chat = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'hello' }] };
  const refused = async (expected: number, answer: Promise<Answer>): Promise<string | undefined> => {
    const { status, text } = await answer;
    return status === expected ? undefined : `${status} ${text.slice(0, 300)}`;
  };
  return [
    {
      name: 'a repeated idempotency key',
      go: async () => {
        const keyed = { ...headers, 'idempotency-key': `soak-${process.pid}-${number++}` };
        const send = () => post(`${gatewayUrl}/v1/chat/completions`, chat, keyed);
        return [await send(), await send()].map(failureOf).find((failure) => failure !== undefined);
      },
    },
    {
      name: 'a client that leaves',
      go: async () => {
        const open = openCall(`${gatewayUrl}/v1/chat/completions`, {
          headers: { ...headers, 'content-type': 'application/json', 'x-simulator-pace': 'tokensPerSecond=100' },
          body: JSON.stringify({ ...chat, stream: true }),
          limitMs: 60_000,
          onData: () => {},
        });
        const timer = setTimeout(() => open.leave(number++ % 2 === 0 ? 'fin' : 'rst'), leaveAfterMs);
        await open.done;
        clearTimeout(timer);
        return undefined;
      },
    },
    {
      name: 'a wrong key',
      go: () => refused(401, post(`${gatewayUrl}/v1/chat/completions`, chat, { authorization: `Bearer no-${number++}` })),
    },
    {
      name: 'an upstream that fails',
      go: () => refused(400, post(`${gatewayUrl}/v1/chat/completions`, chat, { ...headers, 'x-simulator-fault': 'status;status=400' })),
    },
    {
      name: 'a schema of its own',
      go: async () => {
        const schema = { type: 'object', properties: { [`a${number++}`]: { type: 'string', maxLength: 9 } }, additionalProperties: false };
        const format = { type: 'json_schema', json_schema: { name: 'a', schema } };
        return failureOf(
          await post(`${gatewayUrl}/v1/chat/completions`, { ...chat, model: 'claude-sonnet-4-5', response_format: format }, headers),
        );
      },
    },
  ];
}

/** The monitor and the console, as their users ask. */
async function readerCalls(weir: RunningWeir): Promise<readonly MixedCall[]> {
  const token = { token: weir.billingToken };
  const bills = ['/bill/stats', '/bill/excel', '/bill/csv', '/bill/jsonl'].map((path): MixedCall => {
    const ask = async (): Promise<string | undefined> => {
      const question = { type: 3, startTime: Math.floor(Date.now() / 1000) - daySeconds, endTime: Math.ceil(Date.now() / 1000) };
      return failureOf(await post(`${weir.monitorUrl}${path}`, question, token));
    };
    return { name: path, go: ask };
  });
  const browser = await signInByLink(weir.consoleUrl, weir.consoleLink);
  const pages = [
    'overview',
    'calls?limit=50',
    'keys',
    'users',
    'attention',
    'targets',
    'nodes',
    'models',
    'videos',
    'audit',
    'search?q=soak',
  ];
  return [
    ...bills,
    ...pages.map((page): MixedCall => ({
      name: `/api/v1/${page}`,
      go: async () => failureOf(await browser.send('GET', `/api/v1/${page}`)),
    })),
  ];
}
