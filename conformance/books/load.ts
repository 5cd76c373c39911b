import { chatDialects } from '../../src/dialects/registry.ts';
import type { ClientView } from '../support/audit.ts';
import { arrayInterface, type ChatInterface, chatInterfaces } from '../support/interfaces.ts';
import { eventually } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';
import { type Arrival, readShownText } from '../support/shown-text.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';

/** The part of weir.yaml that sends every model to the simulated vendors. */
export function simulatedUpstreams(addresses: Readonly<Record<string, string>>): object {
  const vendors = ['anthropic', 'openai', 'gemini', 'xai'];
  return Object.fromEntries(
    vendors.map((vendor) => [vendor, { vendor, baseUrl: addresses[vendor], apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] }]),
  );
}

/** Numbers from 0 to 1 that repeat for a seed, so that a failure can be reproduced. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

export type LoadCall = {
  readonly api: ChatInterface;
  readonly stream: boolean;
  /** Unique among the calls of a test: it also makes the request's size unique. */
  readonly number: number;
  readonly steer?: Readonly<Record<string, string>>;
  /** The client disconnects after this time. */
  readonly leaveAfterMs?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly limitMs?: number;
  /** Called when the head of the reply has arrived. */
  readonly onHead?: () => void;
  /** Called for each chunk of the body. */
  readonly onData?: () => void;
};

/** Replies that are being received: a kill that is to hit a stream in its middle waits for one. */
export class LiveReplies {
  readonly #spans = new Set<{ firstMs: number; lastMs: number }>();

  /** Makes a call and reads its reply until it ends. */
  async follow<View>(call: (onData: () => void) => Promise<View>): Promise<View> {
    const span = { firstMs: Number.POSITIVE_INFINITY, lastMs: 0 };
    this.#spans.add(span);
    try {
      return await call(() => {
        span.lastMs = performance.now();
        span.firstMs = Math.min(span.firstMs, span.lastMs);
      });
    } finally {
      this.#spans.delete(span);
    }
  }

  /**
   * Waits until chunks of one reply are so far apart in time that the journal must have a part of it. Stops waiting
   * when no reply lasts that long.
   */
  async untilNoted(): Promise<void> {
    const longest = (): number => Math.max(0, ...[...this.#spans].map(({ firstMs, lastMs }) => lastMs - firstMs));
    await eventually(longest, (ms) => ms >= surelyNotedMs, 10_000).catch(() => undefined);
  }
}

/** Twice the interval of a gateway's progress records, and some time for transport. */
const surelyNotedMs = 450;

/** The interfaces in turn, whole and streamed. */
export function modeOf(number: number): { readonly api: ChatInterface; readonly stream: boolean } {
  const apis = [...chatInterfaces, arrayInterface];
  const api = apis[number % apis.length] ?? arrayInterface;
  return { api, stream: api === arrayInterface || Math.floor(number / apis.length) % 2 === 0 };
}

/** A call as it is sent, and the facts by which the audit identifies it. */
export function prepareCall(gatewayUrl: string, apiKey: string, call: LoadCall) {
  const { api, stream, number } = call;
  const tag = `load-${number}`;
  const body = { ...api.body(api.model, `load ${'.'.repeat(number)}`, stream), ...call.body };
  const steering = Object.fromEntries(Object.entries(call.steer ?? {}).map(([name, value]) => [`x-simulator-${name}`, value]));
  const { inputCharacters } = chatDialects[api.dialect].readFacts({
    operation: 'generate',
    body: body as never,
    headers: {},
    pathModel: api.model,
  });
  return {
    url: `${gatewayUrl}${api.path(api.model, stream)}`,
    headers: { authorization: `Bearer ${apiKey}`, ...api.headers, ...steering, 'x-simulator-tag': tag },
    body: JSON.stringify(body),
    known: { tag, inputCharacters, dialect: api.dialect },
    isComplete: (status: number, text: string): boolean => status === 200 && (!stream || api.terminal.test(text)),
  };
}

/** Makes one call as a plain client and returns the client's observations. Never rejects. */
export async function makeCall(gatewayUrl: string, apiKey: string, call: LoadCall): Promise<ClientView & { readonly text: string }> {
  const { number } = call;
  const { url, headers, body, known, isComplete } = prepareCall(gatewayUrl, apiKey, call);
  const arrivals: Arrival[] = [];
  const onData = (bytes: number): void => {
    arrivals.push({ atMs: Date.now(), bytes });
    call.onData?.();
  };
  const open = openCall(url, { headers, body, limitMs: call.limitMs ?? 60_000, onData });
  if (call.onHead !== undefined) open.head.then(call.onHead, () => {});
  const timer =
    call.leaveAfterMs === undefined ? undefined : setTimeout(() => open.leave(number % 2 === 0 ? 'fin' : 'rst'), call.leaveAfterMs);
  const reply = await open.done;
  clearTimeout(timer);
  const callId = reply.headers['x-weir-request-id'];
  const complete = reply.end === 'complete' && isComplete(reply.status, reply.text);
  return {
    ...known,
    callId: typeof callId === 'string' ? callId : undefined,
    status: reply.status,
    complete,
    left: reply.end === 'left',
    ...(call.stream && !complete ? { shown: readShownText(known.dialect, reply.bytes, arrivals) } : {}),
    text: reply.text,
  };
}
