import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';

import type { ApiKey } from '../../../accounts/api-key.ts';
import type { Explanation } from '../../../admin/resources/models/explain-model.ts';
import type { TestedInterface, TestInput } from '../../../admin/resources/models/test-model.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { OperationFailure, type OperationHandler } from '../../../control/operations/operation-runner.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import {
  isChatInterface,
  type SampleInterface,
  type SampleRequest,
  writeSample,
} from '../../../gateway/endpoints/shared/sample-request.ts';
import { requestIdHeader } from '../../../gateway/replies/write-reply.ts';
import { relayRequest, RelayError } from '../../../platform/http/relay-request.ts';
import { chooseInterface, explainFor, type ModelParts } from './explain-model.ts';
import { findKey } from './find-caller.ts';
import type { LentCallers } from './lend-callers.ts';

export type TestParts = ModelParts &
  Pick<LentCallers, 'lend'> & {
    /** Serves a connection as those of clients are served. */
    readonly serveConnection: (socket: Socket) => void;
  };

/** Enough for a word, also after some reasoning. */
const outputTokens = 64;
const limits = { connectMs: 5000, silenceMs: 120_000, totalMs: 180_000, requestBytesMax: 1_048_576, replyBytesMax: 8 * 1024 * 1024 };
const keptBytesMax = 64 * 1024;
const detailCharactersMax = 500;

/** Not called unless asked for by name, because a single one costs cents. */
const dear: ReadonlySet<SampleInterface> = new Set(['image']);
const uncallable: Partial<Record<SampleInterface, string>> = {
  transcription: 'a transcription needs a recording: try it in the playground',
  video: 'a video takes minutes and costs too much for a test: try it in the playground',
};

/**
 * Calls a model once for each interface, with the rights of a key. Each call is a request over the network to this
 * process, so that all its stations are those of a client's call: its key pays, and it is in the books.
 */
export function testModels(parts: TestParts): OperationHandler {
  return async (input, { signal, report, operation }) => {
    // Written by the operation of the admin API, whose schema has checked it.
    const test = input as TestInput;
    const found = await findKey(parts.store, test.key_id);
    if (found === undefined) throw new OperationFailure('unknown_key', 'The key was deleted.');
    if (found.disabledAtMs !== undefined) throw new OperationFailure('disabled_key', 'The key is disabled.');
    const key = withoutAddresses(found);
    const interfaces = chooseInterfaces(parts, test);
    const calls: TestedInterface[] = [];
    const tell = (): void => report({ done: calls.length, total: interfaces.length, unit: 'calls', partial: { calls: [...calls] } });
    tell();
    await using stack = new AsyncDisposableStack();
    const { secret, end } = parts.lend(key);
    stack.defer(end);
    const origin = await openLoopback(parts.serveConnection, stack);
    for (const asked of interfaces) {
      if (signal.aborted) break;
      calls.push(await testOne(parts, { test, asked, key, secret, origin, signal, id: operation.id }));
      tell();
    }
    return { calls };
  };
}

/** The calls come from this machine, which the list of addresses of the key is not about. */
function withoutAddresses(key: ApiKey): ApiKey {
  const strip = <Limits extends ApiKey['limits']>(of: Limits): Limits => {
    if (of?.addresses === undefined) return of;
    const { addresses: _addresses, ...others } = of;
    return others as Limits;
  };
  return {
    ...key,
    ...(key.limits !== undefined && { limits: strip(key.limits) }),
    ...(key.userLimits !== undefined && { userLimits: strip(key.userLimits) }),
    ...(key.organizationLimits !== undefined && { organizationLimits: strip(key.organizationLimits) }),
    ...(key.team?.limits !== undefined && { team: { ...key.team, limits: strip(key.team.limits) } }),
  };
}

function chooseInterfaces({ wholeRouting }: ModelParts, { model, interfaces }: TestInput): readonly SampleInterface[] {
  if (interfaces.length > 0) return interfaces;
  const usual = chooseInterface(wholeRouting(), model);
  // The keys of the table.
  return isChatInterface(usual) ? (Object.keys(chatDialects) as DialectId[]) : [usual];
}

/** A listener of this machine for the time of a test. Every request to it needs a key, as at the gateway's port. */
async function openLoopback(serveConnection: (socket: Socket) => void, stack: AsyncDisposableStack): Promise<URL> {
  const server = createServer(serveConnection);
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(0, '127.0.0.1', () => listening.resolve());
  await listening.promise;
  stack.defer(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the listener of a test has no port');
  return new URL(`http://127.0.0.1:${address.port}`);
}

type OneTest = {
  readonly test: TestInput;
  readonly asked: SampleInterface;
  readonly key: ApiKey;
  readonly secret: string;
  readonly origin: URL;
  readonly signal: AbortSignal;
  /** Of the operation. */
  readonly id: string;
};

const unsent = {
  target: null,
  maximum: null,
  call_id: null,
  status: null,
  first_byte_ms: null,
  total_ms: null,
  amount: null,
  served_by: null,
  notes: [],
} as const;

async function testOne(parts: TestParts, one: OneTest): Promise<TestedInterface> {
  const { test, asked, key } = one;
  const reason =
    uncallable[asked] ?? (dear.has(asked) && test.interfaces.length === 0 ? 'a call costs cents: name it to make one' : undefined);
  if (reason !== undefined) return { ...unsent, interface: asked, verdict: 'skipped', detail: reason };
  const stream = test.stream && isChatInterface(asked);
  const facts = { model: test.model, stream, outputTokensMax: outputTokens };
  const question = { ...facts, interface: asked, images: false, tools: false, input_tokens: null, output_tokens_max: outputTokens };
  const before = await explainFor(parts, { ...question, key_id: key.id, user: null }, key);
  const planned = { ...unsent, interface: asked, target: before.targets[0]?.id ?? null, maximum: before.cost?.maximum ?? null };
  if (before.refusal !== null) return { ...planned, verdict: 'refused', detail: before.refusal.message };
  try {
    return { ...planned, ...(await send(parts, one, writeSample(asked, facts), before)) };
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return { ...planned, verdict: 'failed', detail: `the gateway gave no answer: ${error.message}` };
  }
}

type Sent = Omit<TestedInterface, 'interface' | 'target' | 'maximum'>;

async function send({ gateway }: TestParts, one: OneTest, { path, headers, body }: SampleRequest, before: Explanation): Promise<Sent> {
  const { secret, origin, signal, key, id } = one;
  const text = JSON.stringify(body);
  const sent = {
    ...headers,
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    // If the process ends, the repeated operation gets the first answer and pays once.
    'idempotency-key': `${id}-${before.interface}`,
  };
  const { clock } = gateway;
  const startedMs = clock.monotonicMs();
  const reply = await relayRequest(origin, { method: 'POST', target: path, headers: sent, body: Readable.from([text]) }, limits, signal);
  let firstMs: number | undefined;
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of reply.body) {
    firstMs ??= clock.monotonicMs() - startedMs;
    if (bytes < keptBytesMax) kept.push(part);
    bytes += part.length;
  }
  const callId = reply.headers[requestIdHeader];
  const measured = {
    call_id: typeof callId === 'string' ? callId : null,
    status: reply.status,
    first_byte_ms: firstMs === undefined ? null : Math.round(firstMs),
    total_ms: Math.round(clock.monotonicMs() - startedMs),
  };
  const found = typeof callId === 'string' ? await gateway.receipts?.find(callId, key.userName, false, signal) : undefined;
  const receipt = found?.state === 'ended' ? found.receipt : undefined;
  const last = receipt?.rows.at(-1);
  const isGood = reply.status === 200 && (receipt === undefined || receipt.end === 'finished');
  return {
    ...measured,
    verdict: isGood ? 'passed' : 'failed',
    detail: isGood ? null : describeFailure(Buffer.concat(kept).toString(), last?.error_code),
    amount: receipt === undefined ? null : formatMoney(BigInt(receipt.total.nano_usd)),
    served_by: last === undefined ? null : `${last.upstream}/${last.upstream_model}`,
    notes: [...(last?.notes.request ?? []), ...(last?.notes.reply ?? [])].map(({ kind, field, reason }) => ({ kind, field, reason })),
  };
}

/** The error of the answer, in the words that a client reads. */
function describeFailure(answer: string, code: string | null | undefined): string {
  const message = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(answer)?.[1];
  const said = message === undefined ? answer : message.replaceAll(/\\(.)/g, '$1');
  return `${code === null || code === undefined ? '' : `${code}: `}${said.slice(0, detailCharactersMax)}`;
}
