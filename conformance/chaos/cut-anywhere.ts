import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { type LocalChaosProxy, startChaosProxy, type Trouble } from '../support/chaos-proxy.ts';
import { allModes, type Mode } from '../faults/fault-bench.ts';
import { arrayInterface } from '../support/interfaces.ts';
import { openCall, type ReceivedReply } from '../support/open-call.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';

/** The number of cuts per reply, spread over its bytes; every byte if it is Infinity. */
export type CutOptions = { readonly cutsPerReply: number };

/** R5: results of calls whose connection was cut at a byte of the upstream's reply. */
export type CutFigures = {
  /** The form of the request. */
  readonly mode: string;
  readonly stream: boolean;
  readonly how: string;
  readonly cuts: number;
  /** Cut before content: the client got the other target's whole reply. */
  readonly invisible: number;
  /** Cut before content, and the client got an error status: the number, and a sentence for each. */
  readonly refused: number;
  readonly refusals: readonly string[];
  /** Cut after content: the client got the dialect's error event. */
  readonly told: number;
  /** Cut after the last byte that matters: the client has everything. */
  readonly whole: number;
  /** A sentence for each other result. */
  readonly wrong: readonly string[];
};

type Vendor = keyof RunningSimulator['addresses'];
type Lane = { readonly name: string; readonly mode: Mode; readonly vendor: Vendor; readonly proxy: LocalChaosProxy };

const vendorOf: Readonly<Record<Mode['api']['dialect'], Vendor>> = {
  'anthropic-messages': 'anthropic',
  'openai-responses': 'openai',
  'openai-chat': 'openai',
  'gemini-generate-content': 'gemini',
};

/** Calls that fall back to one upstream, and the bytes of the longest reply. */
const callsPerPart = 50;
const cutsMax = 8000;
const sentences = 6;
/** Each name is within one frame of four-token pieces. */
const texts = { first: 'Alpha says hello'.repeat(sentences), second: 'Omega says hello'.repeat(sentences) } as const;

/**
 * Cuts the replies of the first of two targets at many bytes, by FIN and by reset, and classifies the client's results.
 */
export async function measureCuts(options: CutOptions): Promise<readonly CutFigures[]> {
  const simulator = await startSimulator();
  const lanes = await Promise.all(
    allModes.map(async (mode, index): Promise<Lane> => {
      const vendor = vendorOf[mode.api.dialect];
      return { name: `cut${index}`, mode, vendor, proxy: await startChaosProxy(Number(new URL(simulator.addresses[vendor]).port)) };
    }),
  );
  const parts = Math.ceil((2 * Math.min(options.cutsPerReply, cutsMax)) / callsPerPart) + 1;
  const weir = await startCutWeir(simulator, lanes, parts);
  const ledger = await openLedger(weir.dataDirectory);
  try {
    const figures = await Promise.all(lanes.map((lane) => cutLane({ lane, weir, ledger }, options)));
    return figures.flat();
  } finally {
    await ledger.close();
    await weir[Symbol.asyncDispose]();
    await Promise.all(lanes.map(({ proxy }) => proxy[Symbol.asyncDispose]()));
    await simulator.close();
  }
}

function startCutWeir(simulator: RunningSimulator, lanes: readonly Lane[], parts: number): Promise<RunningWeir> {
  const upstreams: Record<string, object> = {};
  const models: Record<string, object> = {};
  for (const { name, vendor, proxy } of lanes) {
    const url = new URL(simulator.addresses[vendor]);
    url.port = String(proxy.port);
    upstreams[`${name}-first`] = {
      vendor,
      baseUrl: url.href.replace(/\/$/, ''),
      apiKey: upstreamKey,
      forwardHeaders: ['x-simulator-text'],
    };
    for (let part = 0; part < parts; part++) {
      // The calls that one upstream takes over from others are bounded, so many share it.
      upstreams[`${name}-second-${part}`] = { vendor, baseUrl: simulator.addresses[vendor], apiKey: upstreamKey };
      // Each call uses a model of its own, so that it is not affected by the target's health after other calls.
      const pattern = `${name}-${part}-*`;
      const targets = [`${name}-first`, `${name}-second-${part}`].map((upstream) => ({ upstream, model: pattern }));
      models[pattern] = { targets };
    }
  }
  return startWeir({ config: JSON.stringify({ upstreams, models, timeouts: { firstByteMs: 3000, idleMs: 3000 } }) });
}

type CutBench = { readonly lane: Lane; readonly weir: RunningWeir; readonly ledger: Ledger };

async function ask({ lane, weir }: CutBench, number: number): Promise<ReceivedReply> {
  const { mode, name } = lane;
  const { api, stream } = mode;
  const model = `${name}-${Math.floor(number / callsPerPart)}-${number}`;
  const directive = `[[simulator text=${encodeURIComponent(texts.second)}]]`;
  return openCall(`${weir.gatewayUrl}${api.path(model, stream)}`, {
    // The header wins over the directive, and only the first target gets it, so the two answers differ.
    headers: { authorization: `Bearer ${weir.apiKey}`, ...api.headers, 'x-simulator-text': encodeURIComponent(texts.first) },
    body: JSON.stringify(api.body(model, `Hello ${directive}`, stream)),
    limitMs: 15_000,
  }).done;
}

async function cutLane(bench: CutBench, { cutsPerReply }: CutOptions): Promise<readonly CutFigures[]> {
  const { proxy, mode } = bench.lane;
  const { replyBytes: before } = await proxy.counts();
  const plain = await ask(bench, 0);
  if (!isFinished(mode, plain)) throw new Error(`${mode.title}: a plain call failed: ${plain.status} ${plain.text}`);
  const replyBytes = (await proxy.counts()).replyBytes - before;
  const step = Math.max(1, Math.floor(replyBytes / cutsPerReply));
  const figures: CutFigures[] = [];
  let calls = 0;
  for (const how of ['fin', 'reset'] as const) {
    const replies: { readonly at: number; readonly reply: ReceivedReply }[] = [];
    // At byte zero there is no reply to cut.
    for (let at = 1; at < replyBytes; at += step) {
      await proxy.set({ type: how, afterBytes: at } satisfies Trouble);
      replies.push({ at, reply: await ask(bench, (calls += 1)) });
    }
    await proxy.set({ type: 'none' });
    const counts = { invisible: 0, refused: 0, told: 0, whole: 0 };
    const [wrong, refusals]: [string[], string[]] = [[], []];
    for (const { at, reply } of replies) {
      const verdict = await judge(bench, reply);
      const sentence = `cut by ${how} after ${at} of ${replyBytes} bytes: ${verdict}: ${reply.status} ${reply.text.slice(-400)}`;
      if (verdict in counts) counts[verdict as keyof typeof counts] += 1;
      else wrong.push(sentence);
      if (verdict === 'refused') refusals.push(sentence);
    }
    figures.push({ mode: mode.title, stream: mode.stream, how, cuts: replies.length, ...counts, refusals, wrong });
  }
  return figures;
}

function isFinished({ api, stream }: Mode, { status, text }: ReceivedReply): boolean {
  if (status !== 200) return false;
  if (stream) return api.terminal.test(text);
  try {
    return api.errorType(JSON.parse(text)) === undefined;
  } catch {
    // A truncated JSON is not a reply.
    return false;
  }
}

/** Classifies a cut call, by the names of the figures or as a problem. */
async function judge({ lane, ledger }: CutBench, reply: ReceivedReply): Promise<string> {
  const { mode } = lane;
  const { text, status, end } = reply;
  if (end !== 'complete') return 'the transport did not end';
  const entry = await ledger.row(String(reply.headers['x-weir-request-id'])).catch(() => undefined);
  if (entry === undefined) return 'not in the books';
  const isFree = (entry.usage.outputTokens ?? 0) === 0;
  if (status !== 200) {
    if (status < 500) return 'not a 5xx';
    return isFree ? 'refused' : 'refused, and metered';
  }
  const [saysFirst, saysSecond] = [text.includes('Alpha'), text.includes('Omega')];
  if (saysFirst && saysSecond) return 'two replies in one';
  const toldError = mode.stream && mode.api.errorEvent.test(text);
  // An array whose last bracket is missing is closed after an error, so that it can be parsed at all.
  const isOpenArray = mode.api === arrayInterface && toldError;
  if (isFinished(mode, reply) && !isOpenArray) {
    if (toldError) return 'finished and broken';
    if (entry.end !== 'finished') return `finished, and booked as ${entry.end}`;
    if (entry.upstream.endsWith('-first') !== saysFirst) return 'booked by the wrong target';
    // Some dialects repeat the whole text at the end.
    if ((text.split(/Alpha|Omega/).length - 1) % sentences !== 0) return 'looks finished and is not';
    return saysFirst ? 'whole' : 'invisible';
  }
  // Some servers of chat completions end without their final mark, so a stream whose every choice has finished counts
  // as complete.
  if (!toldError && mode.api.dialect === 'openai-chat' && /"finish_reason":"stop"/.test(text) && entry.end === 'finished') return 'whole';
  if (!toldError) return 'cut without an error';
  if (entry.end === 'failed') return isFree ? 'told' : 'failed, and metered';
  return entry.end === 'cut' && !isFree ? 'told' : `error event sent, and booked as ${entry.end}`;
}
