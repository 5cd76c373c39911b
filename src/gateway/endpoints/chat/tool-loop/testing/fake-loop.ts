import type { CallEntry, CallOpening, DisconnectPolicy } from '../../../../../billing/ledger/call-entry.ts';
import type { DialectId } from '../../../../../dialects/dialect-id.ts';
import type { WireRequest } from '../../../../../dialects/wire-request.ts';
import { chatDialects } from '../../../../../dialects/registry.ts';
import type { FunctionTool, InferenceRequest } from '../../../../../inference/inference-request.ts';
import { isJsonObject, type JsonObject } from '../../../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../../../platform/json/parse-json.ts';
import { formatSourceNumber, type GatewayTool, type ToolOutcome, type ToolRun } from '../../../../../tools/gateway-tool.ts';
import { createFakeExchange } from '../../../../attempts/exchange/testing/fake-exchange.ts';
import { defaultRetries } from '../../../../settings/limits.ts';
import type { TakenLimits } from '../../../../admission/limits/reserve-call.ts';
import {
  createGateway,
  createKnownCall,
  createMemoryJournal,
  createTarget,
  type Sent,
} from '../../../../attempts/retry/testing/fake-attempts.ts';
import { run } from '../../schema-check/check-schema-job.ts';
import type { SchemaCheck } from '../check-reply.ts';
import { gatherAddresses } from '../gather-addresses.ts';
import { createByteForm } from '../../reply-form.ts';
import { LoopReply } from '../loop-reply.ts';
import { nameTools } from '../offer-tools.ts';
import { ToolLoop } from '../tool-loop.ts';
import { defaultTools, type ToolSettings } from '../../../../settings/call-settings.ts';

export type FakeToolOptions = { readonly kind?: GatewayTool['kind']; readonly run?: (run: ToolRun) => Promise<ToolOutcome> };

/** A search that finds one source, whose text is the query. */
export function createFakeTool({ kind = 'web-search', run }: FakeToolOptions = {}): GatewayTool {
  const offer: FunctionTool = {
    kind: 'function',
    name: kind.replace('-', '_'),
    parameters: { type: 'object', properties: { query: { type: 'string' } } },
  };
  const readInput = (args: JsonObject): readonly string[] => (typeof args.query === 'string' ? [args.query] : []);
  return { kind, offer, readInput, run: run ?? ((one) => Promise.resolve(findOne(one))) };
}

export function findOne({ arguments: args, firstSource }: ToolRun): ToolOutcome {
  const query = typeof args.query === 'string' ? args.query : '';
  const text = `about ${query}`;
  const url = `https://example.org/${query}`;
  return {
    answer: `${formatSourceNumber(firstSource)} ${text}`,
    sources: [{ number: firstSource, citation: { title: 'A page', source: { kind: 'url', url } } }],
    shown: { results: [{ url, text }] },
    usage: { webSearches: 1 },
  };
}

/** Checks in the same thread, so that nothing has to wait. */
export const checkInProcess: SchemaCheck['checker'] = {
  prepare: () => Promise.resolve({ kind: 'fits' }),
  check: (text, schema) => Promise.resolve(run({ schema: JSON.stringify(schema), text })),
};

export type FakeLoopOptions = {
  readonly dialect?: DialectId;
  readonly stream?: boolean;
  readonly tools?: readonly GatewayTool[];
  readonly request?: Partial<InferenceRequest>;
  readonly settings?: Partial<ToolSettings>;
  readonly targets?: readonly string[];
  readonly runsMax?: number;
  readonly taken?: TakenLimits;
  readonly check?: SchemaCheck;
  readonly disconnect?: DisconnectPolicy;
};

const question: InferenceRequest = {
  model: 'm',
  stream: true,
  instructions: [],
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'What do cats eat?' }] }],
  tools: [],
  sampling: {},
  vendorFields: [],
};

/** A call by the model: the function, its arguments, and its id. */
type FakeCall = readonly [name: string, args: JsonObject, id: string];

/** A loop whose model is played by the test, in chat completions. */
export async function startLoop(options: FakeLoopOptions = {}) {
  const { stream = true } = options;
  const dialect = chatDialects[options.dialect ?? 'anthropic-messages'];
  const framing = stream ? 'sse' : undefined;
  const fake = createFakeExchange({ dialect, framing });
  const { clock } = fake.context;
  const sent: Sent[] = [];
  const openings: CallOpening[] = [];
  const entries: CallEntry[] = [];
  const targets = (options.targets ?? ['a']).map((name) => createTarget(name, sent));
  let ids = 0;
  const gateway = {
    ...createGateway(clock, createMemoryJournal(openings, entries)),
    newId: (prefix: string) => `${prefix}_${++ids}`,
    proofVault: { remember: () => {}, recall: () => Promise.resolve(new Map()) } as unknown as ReturnType<
      typeof createGateway
    >['proofVault'],
    fetchMedia: () => Promise.reject(new Error('no media')),
  };
  const base = createKnownCall(fake, targets, defaultRetries);
  const prepared = {
    ...base,
    call: { ...base.call, dialect },
    framing,
    taken: options.taken,
    disconnect: options.disconnect,
    facts: { ...base.facts, stream },
  } as typeof base;
  const request = { ...question, ...options.request };
  const offered = nameTools(options.tools ?? [createFakeTool()], request);
  const clientRequest: WireRequest = { operation: 'generate', body: { model: 'm', messages: [] }, headers: {} };
  const loop = new ToolLoop(gateway, {
    prepared,
    request,
    offered,
    settings: { ...defaultTools, ...options.settings },
    runsMax: options.runsMax ?? Infinity,
    check: options.check,
    knowsAddress: gatherAddresses(request),
    newToolId: () => gateway.newId('srvtoolu'),
    sink: fake.context.sink,
    reply: new LoopReply({
      dialect,
      form: createByteForm(dialect, 'sse'),
      sink: fake.context.sink,
      framing,
      nowMs: clock.monotonicMs,
      writing: {
        requestId: 'req_1',
        requestedModel: 'm',
        request: clientRequest.body,
        createdAtMs: 0,
        nowMs: () => 2000,
        inputTokensEstimate: 1,
        newId: gateway.newId,
        notes: noNotes(),
      },
    }),
  });
  await loop.start();
  return { ...fake, loop, gateway, sent, openings, entries, ...play(sent, fake.controller, entries) };
}

function noNotes() {
  return {
    adapted: () => {},
    emulated: () => {},
    dropped: () => {},
    list: () => [],
    refuse: (): never => {
      throw new Error('nothing is refused');
    },
  };
}

/** Runs everything that needs no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Plays the model: its last request, and its answers. */
function play(sent: readonly Sent[], controller: Parameters<Sent['handler']['onResponseEnd']>[0], entries: readonly CallEntry[]) {
  const last = (): Sent => {
    const found = sent.at(-1);
    if (found === undefined) throw new Error('no request was sent');
    return found;
  };
  const data = (...chunks: JsonObject[]): void => {
    for (const chunk of chunks) last().handler.onResponseData(controller, Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`));
  };
  const delta = (content: JsonObject, finish?: string): JsonObject => ({
    choices: [{ index: 0, delta: content, ...(finish === undefined ? {} : { finish_reason: finish }) }],
  });
  const begin = (): void => last().handler.onResponseStart(controller, 200, { 'content-type': 'text/event-stream' });
  const end = async (finish: string, usage: JsonObject): Promise<void> => {
    data({ ...delta({}, finish), usage });
    last().handler.onResponseData(controller, Buffer.from('data: [DONE]\n\n'));
    last().handler.onResponseEnd(controller);
    await settle();
  };
  const usage = { prompt_tokens: 10, completion_tokens: 2 };
  return {
    begin,
    data,
    delta,
    end,
    /** The current request to the model. */
    lastRequest: (): JsonObject => parseJsonObject(String(last().request.body)) ?? {},
    say: async (text: string): Promise<void> => {
      begin();
      data(delta({ role: 'assistant', content: text }));
      await end('stop', usage);
    },
    call: async (...calls: FakeCall[]): Promise<void> => {
      begin();
      for (const [index, [name, args, id]] of calls.entries())
        data(delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }] }));
      await end('tool_calls', usage);
    },
    breakOff: async (): Promise<void> => {
      last().handler.onResponseError(controller, Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
      await settle();
    },
    refuse: async (status: number): Promise<void> => {
      const { handler } = last();
      handler.onResponseStart(controller, status, { 'content-type': 'application/json' });
      handler.onResponseData(controller, Buffer.from('{"error":{"message":"no"}}'));
      handler.onResponseEnd(controller);
      await settle();
    },
    rows: (): readonly string[] => entries.map(({ callId, end: ended }) => `${callId} ${ended}`),
  };
}

/** The JSON objects in the data lines of an event stream, in order. */
export function readEvents(text: string): readonly JsonObject[] {
  return text.split('\n').flatMap((line) => {
    const parsed = line.startsWith('data: {') ? parseJsonObject(line.slice('data: '.length)) : undefined;
    return isJsonObject(parsed) ? [parsed] : [];
  });
}
