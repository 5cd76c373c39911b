import { Agent, request } from 'undici';

import type { ClientView } from '../support/audit.ts';
import { modeOf, prepareCall } from './load.ts';

/** The result of a call for a client without retries. */
export type SteadyView = ClientView & { readonly text: string; readonly failure: string | undefined };

/** The interval at which the load generator checks whether a call is due. */
const lookMs = 5;
/** A check that is this late shows that the process, or the whole machine, was stalled. */
const stoodStillMs = 100;
/**
 * The time that a stalled client needs to learn which connections were closed and which servers have stopped meanwhile:
 * a real client would not have stalled with them.
 */
const awakeMs = 500;

/**
 * Calls at a steady rate that does not depend on results, over reused connections, by clients without retries. Half are
 * streams of up to two seconds. Ends after `during` has, with every call ended.
 */
export async function runSteadyLoad(options: {
  readonly gatewayUrl: string;
  readonly apiKey: string;
  readonly callsPerSecond: number;
  readonly during: () => Promise<void>;
}): Promise<readonly SteadyView[]> {
  const { gatewayUrl, apiKey, callsPerSecond } = options;
  const agent = new Agent({ connections: 256, pipelining: 1 });
  const calls: Promise<SteadyView>[] = [];
  let lookedMs = performance.now();
  let dueMs = lookedMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // Missed calls are skipped: otherwise all of them would start at once.
    if (nowMs - lookedMs > stoodStillMs) dueMs = nowMs + awakeMs;
    lookedMs = nowMs;
    for (; dueMs <= nowMs; dueMs += 1000 / callsPerSecond) calls.push(callOnce(agent, gatewayUrl, apiKey, calls.length + 1));
  }, lookMs);
  try {
    await options.during();
  } finally {
    clearInterval(timer);
  }
  const views = await Promise.all(calls);
  await agent.close();
  return views;
}

async function callOnce(agent: Agent, gatewayUrl: string, apiKey: string, number: number): Promise<SteadyView> {
  const mode = modeOf(number);
  const pace = { pace: 'tokensPerSecond=100;tokensPerFrame=10', 'output-tokens': String(10 + ((number * 37) % 190)) };
  const steer = mode.stream ? pace : { 'output-tokens': '20' };
  const { url, headers, body, known, isComplete } = prepareCall(gatewayUrl, apiKey, { ...mode, number, steer });
  let status = 0;
  let callId: string | undefined;
  let text = '';
  let failure: string | undefined;
  try {
    const reply = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      dispatcher: agent,
    });
    status = reply.statusCode;
    callId = String(reply.headers['x-weir-request-id']);
    text = await reply.body.text();
    if (!isComplete(status, text)) failure = `${status} ${text.slice(0, 200)}`;
  } catch (error) {
    failure = error instanceof Error ? `${'code' in error ? String(error.code) : ''} ${error.message}` : String(error);
  }
  return { ...known, callId, status, complete: failure === undefined, left: false, text, failure };
}
