import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { type Content, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { serveWeir } from '../support/serve-weir.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type Gate, type Refusal, startGate } from './start-gate.ts';

const claude = 'claude-sonnet-4-5';
const wrongSignature = 'messages.1.content.0: Invalid `signature` in `thinking` block';
const refusals: Readonly<Record<'anthropic' | 'bedrock' | 'openai' | 'gemini', Refusal>> = {
  anthropic: { body: { type: 'error', error: { type: 'invalid_request_error', message: wrongSignature } } },
  bedrock: { headers: { 'x-amzn-errortype': 'ValidationException' }, body: { message: wrongSignature } },
  openai: {
    body: {
      error: {
        message: 'The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_encrypted_content',
      },
    },
  },
  gemini: { body: { error: { code: 400, message: 'Thought signature is not valid.', status: 'INVALID_ARGUMENT' } } },
};

const weather = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const question = 'How is the weather in Oslo?';
/** In every turn the simulated models write thoughts and call the tool */
const steering = { 'x-simulator-stop': 'tool-use' };

/** One turn of a conversation: what the client got, with ids of calls and proofs of its reasoning. */
type Turn = { readonly callIds: readonly string[]; readonly proofs: readonly string[] };
type Conversation = () => Promise<Turn>;

/** A service that is reached in a conversation, one after another, and the first one again at the end. */
describe('a conversation with thinking and tools goes on at another cloud', () => {
  let simulator: RunningSimulator;
  let weir: ServedWeir;
  const gates = new Map<string, Gate>();
  const gateOf = (name: string): Gate => gates.get(name) ?? assert.fail(name);

  before(async () => {
    simulator = await startSimulator({
      apiKeys: [upstreamKey],
      google: { models: { '*': ['claude-sonnet-4-5@20250929', 'gemini-3-flash-preview'] } },
      azure: { keys: ['azure-key-1'] },
    });
    const { addresses, aws, google = assert.fail(), azure = assert.fail() } = simulator;
    for (const [name, target, refusal] of [
      ['anthropic', addresses.anthropic, refusals.anthropic],
      ['bedrock', aws.runtimeUrl, refusals.bedrock],
      ['vertex', google.vertexUrl, refusals.anthropic],
      ['foundry', azure.endpoint, refusals.anthropic],
      ['gemini', addresses.gemini, refusals.gemini],
      ['vertex-gemini', google.vertexUrl, refusals.gemini],
      ['openai', addresses.openai, refusals.openai],
      ['azure', azure.endpoint, refusals.openai],
    ] as const)
      gates.set(name, await startGate(target, refusal));
    const { accessKeyId, secretAccessKey } = aws.state.addUser();
    const common = { forwardHeaders: ['x-simulator-*'] };
    const googleAccount = { vendor: 'vertex', project: google.project, ...common };
    const googleCredential = { kind: 'google', from: 'metadata', metadataUrl: google.identityUrl };
    const at = (name: string): string => gateOf(name).url;
    const settings: Readonly<Record<string, object>> = {
      anthropic: { vendor: 'anthropic', baseUrl: at('anthropic'), apiKey: upstreamKey, ...common },
      bedrock: {
        vendor: 'bedrock',
        region: 'us-east-1',
        baseUrl: at('bedrock'),
        credential: { kind: 'aws', accessKeyId, secretAccessKey },
        ...common,
      },
      vertex: { ...googleAccount, baseUrl: at('vertex'), credential: googleCredential },
      foundry: { vendor: 'foundry', baseUrl: at('foundry'), apiKey: 'azure-key-1', ...common },
      gemini: { vendor: 'gemini', baseUrl: at('gemini'), apiKey: upstreamKey, ...common },
      'vertex-gemini': { ...googleAccount, baseUrl: at('vertex-gemini'), credential: googleCredential },
      openai: { vendor: 'openai', baseUrl: at('openai'), apiKey: upstreamKey, ...common },
      azure: { vendor: 'azure', baseUrl: at('azure'), apiKey: 'azure-key-1', ...common },
    };
    const targets = {
      anthropic: { upstream: 'anthropic', model: claude },
      bedrock: { upstream: 'bedrock', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', is: claude },
      vertex: { upstream: 'vertex', model: 'claude-sonnet-4-5@20250929', is: claude },
      foundry: { upstream: 'foundry', model: 'claude-prod', is: claude },
    };
    weir = await serveWeir({
      command: 'gateway',
      config: JSON.stringify({
        upstreams: settings,
        models: {
          // A call has three attempts.
          claude: { targets: [targets.anthropic, targets.bedrock, targets.vertex] },
          'claude-elsewhere': { targets: [targets.vertex, targets.foundry, targets.anthropic] },
          gemini: {
            targets: ['gemini', 'vertex-gemini'].map((upstream) => ({ upstream, model: 'gemini-3-flash-preview' })),
          },
          gpt: {
            targets: [
              { upstream: 'openai', model: 'gpt-5' },
              { upstream: 'azure', model: 'reasoning-prod', is: 'gpt-5' },
            ],
          },
        },
        retries: { attemptsMax: 3, avoidFailing: false },
      }),
    });
  });
  after(async () => {
    await weir?.[Symbol.asyncDispose]();
    for (const gate of gates.values()) await gate[Symbol.asyncDispose]();
    await simulator.close();
  });
  beforeEach(() => {
    for (const gate of gates.values()) {
      Object.assign(gate, { isShut: false, own: undefined, refused: 0 });
      gate.passed.length = 0;
    }
  });

  const talkMessages = (model: string): Conversation => {
    const client = new Anthropic({ baseURL: weir.gatewayUrl, apiKey: weir.apiKey, maxRetries: 0, defaultHeaders: steering });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
    return async () => {
      const { content } = await client.messages
        .stream({
          model,
          max_tokens: 3000,
          thinking: { type: 'enabled', budget_tokens: 1024 },
          tools: [{ name: 'get_weather', input_schema: weather }],
          messages,
        })
        .finalMessage();
      const calls = content.filter((block) => block.type === 'tool_use');
      messages.push({ role: 'assistant', content });
      messages.push({ role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' })) });
      const thoughts = content.filter((block) => block.type === 'thinking');
      return { callIds: calls.map(({ id }) => id), proofs: thoughts.map(({ signature }) => signature) };
    };
  };

  const talkResponses = (model: string): Conversation => {
    const client = new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0, defaultHeaders: steering });
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: question }];
    return async () => {
      const { output } = await client.responses
        .stream({
          model,
          store: false,
          include: ['reasoning.encrypted_content'],
          reasoning: { effort: 'medium', summary: 'auto' },
          tools: [{ type: 'function', name: 'get_weather', parameters: weather, strict: false }],
          input,
        })
        .finalResponse();
      const calls = output.filter((item) => item.type === 'function_call');
      input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
      input.push(...calls.map(({ call_id: id }) => ({ type: 'function_call_output' as const, call_id: id, output: 'rain' })));
      const proofs = output.flatMap((item) => (item.type === 'reasoning' ? (item.encrypted_content ?? []) : []));
      return { callIds: calls.map(({ call_id: id }) => id), proofs };
    };
  };

  const talkGemini = (): Conversation => {
    const client = new GoogleGenAI({ apiKey: weir.apiKey, httpOptions: { baseUrl: weir.gatewayUrl, headers: steering } });
    const contents: Content[] = [{ role: 'user', parts: [{ text: question }] }];
    return async () => {
      const reply = await client.models.generateContent({
        model: 'gemini',
        contents,
        config: {
          thinkingConfig: { includeThoughts: true },
          tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: weather }] }],
        },
      });
      const content = reply.candidates?.[0]?.content ?? assert.fail('no candidate');
      const calls = reply.functionCalls ?? [];
      contents.push(content, {
        role: 'user',
        parts: calls.map(({ id, name }) => ({
          functionResponse: { ...(id !== undefined && { id }), name: name ?? '', response: { sky: 'rain' } },
        })),
      });
      const proofs = content.parts?.flatMap(({ thoughtSignature }) => thoughtSignature ?? []) ?? [];
      return { callIds: calls.map(({ id, name }) => id ?? name ?? ''), proofs };
    };
  };

  /** Takes a turn at each service, the others being away, and returns to the first one. */
  const travel = async (talk: Conversation, services: readonly string[], { isStrict = false, thinks = true }): Promise<void> => {
    const taken: Turn[] = [];
    for (const gate of services.map(gateOf)) gate.own = isStrict ? new Set() : undefined;
    for (const [step, name] of [...services, services[0] ?? ''].entries()) {
      for (const each of services) gateOf(each).isShut = each === name ? false : step % 2 === 0 ? 'reset' : 503;
      const turn = await talk();
      assert.ok(turn.callIds.length > 0, `${name}: ${JSON.stringify(turn)}`);
      // Claude does not think in a turn whose earlier thoughts are not there.
      if (thinks) assert.ok(turn.proofs.length > 0, name);
      const seen = gateOf(name).passed.at(-1) ?? assert.fail(`${name} got no request`);
      for (const { callIds } of taken)
        for (const id of callIds) assert.ok(seen.includes(`"${id}"`), `${name} does not know the call ${id}`);
      for (const proof of turn.proofs) gateOf(name).own?.add(proof);
      taken.push(turn);
    }
  };

  const clouds = ['anthropic', 'bedrock', 'vertex'];
  for (const [title, talk, services] of [
    ['Claude: Anthropic, Bedrock, Vertex AI', () => talkMessages('claude'), clouds],
    ['Claude: Vertex AI, Foundry, Anthropic', () => talkMessages('claude-elsewhere'), ['vertex', 'foundry', 'anthropic']],
    ['Gemini: the Gemini API, Vertex AI', talkGemini, ['gemini', 'vertex-gemini']],
    ['GPT by Responses: OpenAI, Azure', () => talkResponses('gpt'), ['openai', 'azure']],
  ] as const) {
    test(`${title}: the thinking of the one is sent to the other`, async () => {
      const conversation = talk();
      const proofs: string[] = [];
      await travel(
        async () => {
          const turn = await conversation();
          proofs.push(...turn.proofs);
          return turn;
        },
        services,
        {},
      );
      const last = gateOf(services[0] ?? '').passed.at(-1) ?? '';
      for (const proof of proofs.slice(0, services.length)) assert.ok(last.includes(JSON.stringify(proof)), proof);
      assert.equal(
        gates.values().reduce((sum, { refused }) => sum + refused, 0),
        0,
      );
    });

    test(`${title}: if the other refuses it, the conversation goes on without it, and nobody notices`, async () => {
      await travel(talk(), services, { isStrict: true, thinks: false });
      for (const name of services) assert.ok(gateOf(name).refused > 0 || name === services[0], name);
    });
  }

  test('Claude by Responses: the calls stay whole, and the thinking of another cloud is left out', async () => {
    await travel(talkResponses('claude'), clouds, { thinks: false });
    const body = JSON.parse(gateOf('bedrock').passed.at(-1) ?? '{}') as { messages: Anthropic.MessageParam[] };
    const types = body.messages.flatMap(({ content }) => (typeof content === 'string' ? ['text'] : content.map(({ type }) => type)));
    assert.ok(types.includes('tool_use') && types.includes('tool_result') && !types.includes('thinking'), types.join());
  });
});
