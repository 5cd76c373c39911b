import assert from 'node:assert/strict';

import type { RunningSimulator } from 'weir-simulator';

import type { UpstreamDialectId } from '../../src/dialects/dialect-id.ts';
import { call as request, type Answer } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import type { Truth } from '../support/audit.ts';
import type { Conversation, TranslationClient } from './conversation.ts';
import type { ModelKind } from './translation-case.ts';

type ModelNames = Readonly<Record<ModelKind, { readonly upstream: string; readonly model: string }>>;

/** Models behind which an upstream of each dialect answers. */
const models: Readonly<Record<UpstreamDialectId, ModelNames>> = {
  'anthropic-messages': {
    plain: { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
    thinker: { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
    limited: { upstream: 'anthropic', model: 'claude-3-5-haiku-latest' },
  },
  'openai-responses': {
    plain: { upstream: 'responses', model: 'gpt-4.1' },
    thinker: { upstream: 'responses', model: 'gpt-5-mini' },
    limited: { upstream: 'responses', model: 'gpt-4-turbo' },
  },
  'openai-chat': {
    plain: { upstream: 'compatible', model: 'gpt-4.1' },
    thinker: { upstream: 'chat-thinker', model: 'grok-4.3' },
    limited: { upstream: 'compatible-limited', model: 'gpt-4.1' },
  },
  'gemini-generate-content': {
    plain: { upstream: 'gemini', model: 'gemini-2.5-flash-lite' },
    thinker: { upstream: 'gemini', model: 'gemini-3.5-flash' },
    limited: { upstream: 'gemini', model: 'gemini-2.0-flash' },
  },
  'bedrock-converse': {
    plain: { upstream: 'bedrock', model: 'us.amazon.nova-pro-v1:0' },
    thinker: { upstream: 'bedrock', model: 'global.amazon.nova-2-lite-v1:0' },
    limited: { upstream: 'bedrock', model: 'us.meta.llama3-3-70b-instruct-v1:0' },
  },
};

/** The name by which clients call a model of an upstream. */
export const modelName = (kind: ModelKind, to: UpstreamDialectId): string => `${kind}-${to}`;

/** The name of the model at the upstream. */
export const upstreamModel = (kind: ModelKind, to: UpstreamDialectId): string => models[to][kind].model;

const compatible = { vendor: 'openai-compatible', apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] } as const;

function compatibleUpstreams({ openai, xai }: RunningSimulator['addresses']): Readonly<Record<string, object>> {
  return {
    responses: { ...compatible, vendor: 'openai', baseUrl: openai, dialects: ['openai-responses'] },
    compatible: { ...compatible, baseUrl: openai, quirks: { webSearch: true } },
    'chat-thinker': { ...compatible, vendor: 'xai', baseUrl: xai, dialects: ['openai-chat'] },
    'compatible-limited': {
      ...compatible,
      baseUrl: openai,
      quirks: { structuredOutput: false },
    },
  };
}

function bedrockUpstream({ aws }: RunningSimulator): Readonly<Record<string, object>> {
  const { accessKeyId, secretAccessKey } = aws.state.addUser();
  const credential = { kind: 'aws', accessKeyId, secretAccessKey };
  return {
    bedrock: { vendor: 'bedrock', region: 'us-east-1', baseUrl: aws.runtimeUrl, credential, forwardHeaders: ['x-simulator-*'] },
  };
}

function configuredModels(settings: object): Readonly<Record<string, object>> {
  const entries = Object.entries(models).flatMap(([to, kinds]) =>
    Object.entries(kinds).map(([kind, target]) => [
      modelName(kind as ModelKind, to as UpstreamDialectId),
      { targets: [target], ...settings },
    ]),
  );
  return Object.fromEntries(entries) as Readonly<Record<string, object>>;
}

type BenchCall = {
  readonly client: TranslationClient;
  readonly to: UpstreamDialectId;
  readonly model: ModelKind;
  readonly stream: boolean;
  readonly conversation: Conversation;
  readonly steering?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
};

export type BenchReply = {
  readonly answer: Answer;
  readonly callId: string;
  /** The upstream's request and its planned answer; undefined if the call never reached it. */
  readonly truth: Truth | undefined;
  /** The same for all requests of the call, in order. */
  readonly truths: readonly Truth[];
  /** The body as the client wrote it. */
  readonly sent: unknown;
};

export type TranslationBench = {
  readonly weir: SimulatedWeir['weir'];
  readonly simulator: RunningSimulator;
  readonly send: (call: BenchCall) => Promise<BenchReply>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export type TranslationBenchOptions = {
  /** `timeouts` of weir.yaml. */
  readonly timeouts?: Readonly<Record<string, number>>;
  /** Settings of every model in weir.yaml besides its target. */
  readonly model?: object;
  /** Whether the gateway runs the built-in tools. */
  readonly runsTools?: boolean;
};

/** Starts a Weir whose upstreams speak one dialect each, and the simulated vendors behind them. */
export async function startTranslationBench({ timeouts, model = {}, runsTools }: TranslationBenchOptions = {}): Promise<TranslationBench> {
  const simulated = await startSimulatedGateway({
    upstreams: compatibleUpstreams,
    clouds: bedrockUpstream,
    models: configuredModels(model),
    // The subject here is translation, and not whether a simulated model follows a schema.
    config: { structuredOutput: { check: 'off' } },
    ...(timeouts === undefined ? {} : { timeouts }),
    ...(runsTools === undefined ? {} : { runsTools }),
  });
  const { weir, simulator } = simulated;
  let lastTag = 0;
  return {
    weir,
    simulator,
    send: async ({ client, to, model, stream, conversation, steering = {}, headers = {} }) => {
      lastTag += 1;
      const tag = `t${lastTag}`;
      const written = client.write(conversation, modelName(model, to), stream);
      const answer = await request(weir.gatewayUrl + written.path, {
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${weir.apiKey}`,
          ...written.headers,
          ...Object.fromEntries(Object.entries(steering).map(([name, value]) => [`x-simulator-${name}`, value])),
          'x-simulator-tag': tag,
          ...headers,
        },
        body: JSON.stringify(written.body),
      });
      const callId = answer.headers['x-weir-request-id'];
      assert.ok(typeof callId === 'string', 'every answer names its call');
      const truths = simulator.records().filter((record) => record.tag === tag);
      return { answer, callId, truth: truths.at(-1), truths, sent: written.body };
    },
    [Symbol.asyncDispose]: () => simulated[Symbol.asyncDispose](),
  };
}
