import assert from 'node:assert/strict';

import type Anthropic from '@anthropic-ai/sdk';

export const schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
export const question = 'How is the weather in Oslo?';

type Steering = Readonly<Record<string, string>>;
/** Headers that steer the simulated models, which both ways pass on. */
export const steer = (values: Steering) => ({
  headers: Object.fromEntries(Object.entries(values).map(([name, value]) => [`x-simulator-${name}`, value])),
});
export const says = steer({ text: encodeURIComponent('Grüße, 世界 😀') });
export const calls = steer({ 'tool-calls': '1', text: 'Let%20me%20look.' });

/** What a client does with its SDK; it returns everything that it got. */
export type Act<Client> = (client: Client) => Promise<unknown>;

/** Members that differ from call to call, and figures that only the simulated cloud makes up. */
const unlike = new Set([
  'id',
  // Weir's replies have the client's name for the model (conformance/sdk/cloud-modes.deep.test.ts).
  'model',
  '_request_id',
  'request_id',
  'created',
  'created_at',
  'completed_at',
  'responseId',
  'createTime',
  'sdkHttpResponse',
  '$metadata',
  'amazon-bedrock-invocationMetrics',
  'obfuscation',
  'p',
]);

/** A result without what differs from call to call. Ids that point at each other keep that. */
function plain(value: unknown): unknown {
  const ids = new Map<string, string>();
  const number = (id: string): string => {
    const known = ids.get(id) ?? `id-${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) => {
      if (typeof member === 'string' && /^(?:id|tool_use_id|tool_call_id|call_id|item_id|toolUseId)$/.test(name)) return number(member);
      return unlike.has(name) ? undefined : member;
    }),
  ) as unknown;
}

/** What an act returned, or the class and the status of its error. */
export async function outcomeOf<Client>(act: Act<Client>, client: Client): Promise<unknown> {
  try {
    return { returned: plain(await act(client)) };
  } catch (error) {
    assert.ok(error instanceof Error);
    const { status, code, $metadata } = error as Error & { status?: number; code?: unknown; $metadata?: { httpStatusCode?: number } };
    return { failed: error.constructor.name, name: error.name, status: status ?? $metadata?.httpStatusCode, code };
  }
}

export async function collect<Item>(stream: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

export type MessagesClient = { readonly messages: Pick<Anthropic.Messages, 'create'> };
export type CountingClient = { readonly messages: Pick<Anthropic.Messages, 'create' | 'countTokens'> };

/** Calls of Messages, for the clients of all clouds that sell Claude. */
export function actsOfMessages(model: string): Readonly<Record<string, Act<MessagesClient>>> {
  const request = { model, max_tokens: 3000, messages: [{ role: 'user' as const, content: question }] };
  const tools: Anthropic.Tool[] = [{ name: 'get_weather', description: 'The weather of a city.', input_schema: schema }];
  const withTools = { ...request, tools };
  const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
  const loop = async (client: MessagesClient, more: object): Promise<unknown> => {
    const first = await client.messages.create({ ...withTools, ...more }, calls);
    const used = first.content.filter((block) => block.type === 'tool_use');
    assert.equal(used.length, 1);
    const second = await client.messages.create(
      {
        ...withTools,
        ...more,
        messages: [
          ...request.messages,
          { role: 'assistant', content: first.content },
          { role: 'user', content: used.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' })) },
        ],
      },
      says,
    );
    return [first, second];
  };
  return {
    'a whole text': (client) => client.messages.create(request, says),
    'a streamed text': async (client) => collect(await client.messages.create({ ...request, stream: true }, says)),
    'a whole call of a tool': (client) => client.messages.create(withTools, calls),
    'a streamed call of a tool': async (client) => collect(await client.messages.create({ ...withTools, stream: true }, calls)),
    'a tool loop': (client) => loop(client, {}),
    'a tool loop with thinking': (client) => loop(client, { thinking }),
    'streamed thinking': async (client) => collect(await client.messages.create({ ...request, thinking, stream: true }, says)),
    'a reply at the output limit': (client) => client.messages.create({ ...request, max_tokens: 5 }, steer({ 'output-tokens': '60' })),
    'a stop sequence': (client) => client.messages.create({ ...request, stop_sequences: ['STOP'] }, steer({ text: 'One%20STOP%20two' })),
    'a beta flag': (client) => client.messages.create(request, { headers: { ...says.headers, 'anthropic-beta': 'context-1m-2025-08-07' } }),
    'a request that is wrong': (client) => client.messages.create({ ...request, max_tokens: -1 }),
    'a conversation without turns': (client) => client.messages.create({ ...request, messages: [] }),
    'a limit of the vendor': (client) => client.messages.create(request, steer({ fault: 'status;status=429' })),
    'an overloaded vendor': (client) => client.messages.create(request, steer({ fault: 'status;status=529' })),
    'a stream that is refused': async (client) =>
      collect(await client.messages.create({ ...request, stream: true }, steer({ fault: 'status;status=429' }))),
  };
}

export const countTokens =
  (model: string): Act<CountingClient> =>
  (client) =>
    client.messages.countTokens({ model, messages: [{ role: 'user', content: question }] });
