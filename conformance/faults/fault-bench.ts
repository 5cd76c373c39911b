import assert from 'node:assert/strict';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { compareStatistics, priceBound, type Truth } from '../support/audit.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { arrayInterface, type ChatInterface, chatInterfaces } from '../support/interfaces.ts';
import { openCall, type OpenCall, type OpenCallOptions, type ReceivedReply } from '../support/open-call.ts';
import { isLong } from '../support/scale.ts';
import {
  type SimulatedProgram,
  type SimulatedWeir,
  startSimulatedProgram,
  startSimulatedWeir,
  type StartSimulatedWeirOptions,
  upstreamKey,
} from '../support/start-simulated-weir.ts';

/** The form of a request: an interface, whole or streamed. */
export type Mode = { readonly title: string; readonly api: ChatInterface; readonly stream: boolean };

export const streamModes: readonly Mode[] = [
  ...chatInterfaces.map((api) => ({ title: `${api.dialect}, stream`, api, stream: true })),
  { title: `${arrayInterface.dialect}, array stream`, api: arrayInterface, stream: true },
];
export const wholeModes: readonly Mode[] = chatInterfaces.map((api) => ({ title: `${api.dialect}, whole`, api, stream: false }));
export const allModes: readonly Mode[] = [...wholeModes, ...streamModes];

/**
 * The modes of a case in a list of cases: every dialect, whole and streamed in turn, and every third time the array
 * stream, so that each mode has a third of the cases or more. A fault is read in the upstream's dialect, and how it is
 * sent on depends on the mode and not on the fault. WEIR_LONG=1 uses all modes.
 * @param at the position of the case
 */
export function modesInTurn(modes: readonly Mode[], at: number): readonly Mode[] {
  if (isLong) return modes;
  const apis = [...new Set(modes.map(({ api }) => api))];
  return apis.flatMap((api, index) => {
    const own = modes.filter((mode) => mode.api === api);
    const isTurn = api !== arrayInterface || at % 3 === 0;
    return isTurn ? own.slice((at + index) % own.length).slice(0, 1) : [];
  });
}

type Steered = {
  readonly text?: string;
  /** Another model than the interface's usual one. */
  readonly model?: string;
  /** `x-simulator-*` headers without the prefix. */
  readonly steer?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
} & Pick<OpenCallOptions, 'limitMs' | 'neverRead'>;

type Tagged = { readonly tag: string; readonly call: OpenCall };

/** A Weir with simulated vendors, its ledger, and calls that the simulator makes fail. */
export type FaultBench<Simulated extends SimulatedWeir = SimulatedWeir> = Simulated & {
  readonly ledger: Ledger;
  readonly open: (mode: Mode, options?: Steered) => Tagged;
  /** Makes a call and waits for its end. */
  readonly send: (mode: Mode, options?: Steered) => Promise<ReceivedReply & { readonly tag: string }>;
  /** The ledger row of a reply. */
  readonly rowOf: (reply: Pick<ReceivedReply, 'headers'>) => Promise<CallEntry>;
  /** The upstream's record of a call, once it has ended there. */
  readonly truthOf: (tag: string) => Promise<Truth>;
  /**
   * Asserts that the gateway still serves, that the statistics match the ledger, and that nothing unexpected was
   * printed.
   */
  readonly assertSound: () => Promise<void>;
};

let lastTag = 0;

export async function startFaultBench(options: StartSimulatedWeirOptions = {}): Promise<FaultBench> {
  return await equip(await startSimulatedWeir(options));
}

/**
 * Runs the Weir in a process of its own, whose memory can be measured and whose speed is independent of the clients.
 */
export async function startFaultProgram(options: StartSimulatedWeirOptions = {}): Promise<FaultBench<SimulatedProgram>> {
  return await equip(await startSimulatedProgram(options));
}

async function equip<Simulated extends SimulatedWeir>(simulated: Simulated): Promise<FaultBench<Simulated>> {
  const { weir, simulator } = simulated;
  const ledger = await openLedger(weir.dataDirectory);
  const open = (mode: Mode, steered: Steered = {}): Tagged => {
    const { api, stream } = mode;
    const tag = `call-${(lastTag += 1)}`;
    const steering = Object.fromEntries(Object.entries(steered.steer ?? {}).map(([name, value]) => [`x-simulator-${name}`, value]));
    const model = steered.model ?? api.model;
    const call = openCall(`${weir.gatewayUrl}${api.path(model, stream)}`, {
      headers: { authorization: `Bearer ${weir.apiKey}`, ...api.headers, ...steering, 'x-simulator-tag': tag, ...steered.headers },
      body: JSON.stringify({ ...api.body(model, steered.text ?? 'Hello there', stream), ...steered.body }),
      ...(steered.limitMs === undefined ? {} : { limitMs: steered.limitMs }),
      ...(steered.neverRead === undefined ? {} : { neverRead: steered.neverRead }),
    });
    return { tag, call };
  };
  const send: FaultBench['send'] = async (mode, steered) => {
    const { tag, call } = open(mode, steered);
    return { ...(await call.done), tag };
  };
  const truthOf = async (tag: string): Promise<Truth> => {
    const truth = await eventually(
      () => simulator.records().find((record) => record.tag === tag),
      (record) => record !== undefined && record.ending !== 'open',
    );
    assert.ok(truth);
    return truth;
  };
  const assertSound = async (): Promise<void> => {
    for (const mode of allModes) {
      const reply = await send(mode);
      assert.equal(reply.status, 200, `${mode.title}: ${reply.text}`);
      assert.equal(reply.end, 'complete', mode.title);
    }
    const settled = async (): Promise<readonly string[]> => compareStatistics(weir.monitorUrl, weir.billingToken, await ledger.all());
    await eventually(settled, (differences) => differences.length === 0);
    const output = weir.output();
    assert.doesNotMatch(output, /unhandled|uncaught|failed inside the gateway|"ERR_|TypeError|RangeError/i);
    assert.ok(!output.includes(upstreamKey), 'the upstream key was printed');
  };
  return {
    ...simulated,
    ledger,
    open,
    send,
    rowOf: (reply) => ledger.row(String(reply.headers['x-weir-request-id'])),
    truthOf,
    assertSound,
    [Symbol.asyncDispose]: async () => {
      await ledger.close();
      await simulated[Symbol.asyncDispose]();
    },
  };
}

/** Asserts that a reply is the dialect's own error with a status that makes clients retry, and not a success. */
export function assertErrorStatus(mode: Mode, reply: ReceivedReply, status: number | RegExp): void {
  if (typeof status === 'number') assert.equal(reply.status, status, reply.text);
  else assert.match(String(reply.status), status, reply.text);
  assert.equal(reply.end, 'complete');
  assert.doesNotMatch(reply.text, mode.api.terminal);
  const body: unknown = JSON.parse(reply.text);
  const error = Array.isArray(body) ? body[0] : body;
  assert.ok(mode.api.errorType(error), `the dialect names the kind of error: ${reply.text}`);
}

/**
 * Asserts that a broken stream has its dialect's error event, ends its transport properly and does not look finished.
 */
export function assertErrorEvent(mode: Mode, reply: ReceivedReply): void {
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.end, 'complete', 'the transport ends properly after the error event');
  assert.match(reply.text, mode.api.errorEvent);
  assert.doesNotMatch(reply.text, mode.api.terminal);
  if (mode.api === arrayInterface) assert.ok(Array.isArray(JSON.parse(reply.text)), 'the array is closed');
}

/** Asserts that a call was booked as failed and free. */
export function assertFree(entry: CallEntry): void {
  assert.equal(entry.end, 'failed');
  assert.equal(entry.charge.amountNanoUsd, 0n);
  assert.deepEqual(entry.usage, {});
}

/** Asserts that a call cut after content is charged, marked as an estimate, and not above the truth. */
export function assertPartly(entry: CallEntry, truth: Truth, end: CallEntry['end'] = 'cut'): void {
  assert.equal(entry.end, end);
  assert.equal(entry.estimated, true);
  const bound = priceBound(entry, truth);
  assert.ok(entry.charge.amountNanoUsd > 0n, 'content was delivered, so it is not free');
  assert.ok(
    entry.charge.amountNanoUsd <= bound,
    `${entry.charge.amountNanoUsd} is more than ${bound}: ${JSON.stringify(entry.usage)} of ${truth.emittedTokens}`,
  );
}
