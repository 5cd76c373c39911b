import assert from 'node:assert/strict';

import type { UpstreamDialectId } from '../../src/dialects/dialect-id.ts';
import type { Truth } from '../support/audit.ts';
import { upstreamModel, type BenchReply, type TranslationBench } from './bench.ts';
import { checkReceived, checkClientView } from './check-exchange.ts';
import { checkLosses } from './check-losses.ts';
import { receiveAs } from './upstreams/upstreams.ts';
import type { Conversation, ClientView, SpokenPart, TranslationClient } from './conversation.ts';
import type { Expectation, Pair, TranslationCase } from './translation-case.ts';

/** The outcome of a case: the worst kind of note in the warning header, or a refusal. */
export type Outcome = 'carried' | 'adapted' | 'emulated' | 'dropped' | 'refused';

/** A call whose row in the ledger is compared with the upstream's usage. */
export type BookedCall = {
  readonly label: string;
  readonly callId: string;
  readonly truth: Truth;
  /** False if the upstream reports no usage, or is stopped before it could. */
  readonly isExact: boolean;
};

export type CaseRun = { readonly outcome: Outcome; readonly booked: readonly BookedCall[] };

const severity: readonly Outcome[] = ['carried', 'adapted', 'emulated', 'dropped', 'refused'];

/** Parses `dropped top_k (reason), adapted …` into its kinds and fields. */
function readWarnings(header: string | string[] | undefined): readonly { readonly kind: string; readonly field: string }[] {
  if (header === undefined) return [];
  assert.equal(typeof header, 'string', 'one warning header');
  return String(header)
    .split(', ')
    .map((note) => {
      const [, kind = '', field = ''] = /^(adapted|emulated|dropped) (\S+) \(.+\)$/.exec(note) ?? [];
      assert.notEqual(kind, '', `a warning in the documented form: ${note}`);
      return { kind, field };
    });
}

function outcomeOf({ answer }: BenchReply, { standIn }: Expectation): Outcome {
  if (answer.status === 400 || answer.status === 404) return 'refused';
  if (standIn !== undefined) return 'emulated';
  const kinds = readWarnings(answer.headers['x-gateway-warning']).map(({ kind }) => kind as Outcome);
  return severity.findLast((outcome) => kinds.includes(outcome)) ?? 'carried';
}

/** Whether a note is about the setting of the case: by its own spelling, or by a path into it. */
function isAbout(client: TranslationClient, name: string, field: string): boolean {
  if (name === '*') return true;
  const spelled = client.spelling[name] ?? name;
  return field === spelled || field.startsWith(`${spelled}.`) || field.startsWith(`${spelled}[`);
}

function checkNotes(client: TranslationClient, expected: readonly string[], { answer }: BenchReply): void {
  const notes = readWarnings(answer.headers['x-gateway-warning']);
  const said = answer.headers['x-gateway-warning'];
  for (const note of expected) {
    const [kind, name = ''] = note.split(' ');
    assert.ok(
      notes.some((found) => found.kind === kind && isAbout(client, name, found.field)),
      `the warning says: ${note}; it says: ${String(said)}`,
    );
  }
  const kinds = (list: readonly string[]): readonly string[] => [...new Set(list)].toSorted();
  assert.deepEqual(kinds(notes.map(({ kind }) => kind)), kinds(expected.map((note) => note.split(' ')[0] ?? '')), String(said));
}

function checkRefused(client: TranslationClient, name: string, status: number, { answer, truth }: BenchReply): void {
  assert.equal(answer.status, status, `the call is refused; it is answered ${answer.status}: ${answer.text.slice(0, 300)}`);
  const error = client.readError(answer.status, answer.json);
  const spelled = client.spelling[name] ?? name;
  if (name !== '*') assert.ok(error.message.includes(spelled), `the refusal names ${spelled}: ${error.message}`);
  assert.equal(truth, undefined, 'a refused call never reaches the upstream');
}

type Step = {
  readonly one: TranslationCase;
  readonly client: TranslationClient;
  readonly to: UpstreamDialectId;
  readonly stream: boolean;
  readonly reply: BenchReply;
  /** The client's conversation. */
  readonly conversation: Conversation;
};

/** Checks one exchange and returns the client's view; undefined if it was refused. */
function checkStep(step: Step, expectation: Expectation): ClientView | undefined {
  const { one, client, to, stream, reply, conversation } = step;
  const { answer, truth } = reply;
  const pair: Pair = { from: client.dialect, to };
  // The same dialect passes through: there is no note, and nothing is changed.
  if (client.dialect !== to && expectation.refused !== undefined) {
    checkRefused(client, expectation.refused, expectation.refusedStatus ?? 400, reply);
    return undefined;
  }
  if (expectation.refusedUpstream !== undefined) {
    assert.match(client.readError(answer.status, answer.json).message, expectation.refusedUpstream);
    assert.equal(answer.status, 400);
    return undefined;
  }
  assert.equal(answer.status, 200, `${answer.text.slice(0, 600)}\nupstream got: ${JSON.stringify(truth?.requestBody)?.slice(0, 1500)}`);
  assert.ok(truth, 'the call reached the upstream');
  assert.equal(truth.ending === 'refused', false, 'the upstream accepts the request');
  if (client.dialect === to) assert.equal(answer.headers['x-gateway-warning'], undefined, 'passthrough has no warnings');
  else checkNotes(client, expectation.notes ?? [], reply);
  if (client.dialect !== to) {
    const notes = readWarnings(answer.headers['x-gateway-warning']);
    const isNoted = (name: string): boolean => notes.some(({ field }) => isAbout(client, name, field));
    const body = truth.requestBody;
    if (body !== undefined) checkLosses({ conversation, to, received: receiveAs[to](body), body, isNoted });
  }
  if (client.dialect !== to && expectation.standIn !== undefined)
    assert.deepEqual(receiveAs[to](truth.requestBody).tools, [expectation.standIn], 'the function that replaces the tool');
  checkReceived({ pair, expectation, truth, sent: reply.sent, upstreamModel: upstreamModel(one.model ?? 'plain', to) });
  const said = stream ? client.readStream(answer.text) : client.readWhole(answer.json);
  checkClientView({ one, pair, truth, said, expectation });
  return said;
}

function continueWith(conversation: Conversation, said: ClientView, forgets: boolean): Conversation {
  const calls = said.calls.map(({ id, name, arguments: args }): SpokenPart => ({ call: id, name, arguments: args }));
  const results = said.calls.map(({ id, name }): SpokenPart => ({ result: id, name, content: `done ${name}` }));
  return {
    ...conversation,
    turns: [
      ...conversation.turns,
      { role: 'assistant', parts: calls, ...(forgets ? {} : { verbatim: said.turn }) },
      { role: 'user', parts: results.length === 0 ? ['Go on.'] : results },
    ],
  };
}

/**
 * Runs a case between one client and one upstream. Throws `Inexpressible` if the client's dialect cannot express it,
 * and the problem otherwise.
 */
export async function runCase(
  bench: TranslationBench,
  one: TranslationCase,
  client: TranslationClient,
  to: UpstreamDialectId,
  stream: boolean,
): Promise<CaseRun> {
  const { model = 'plain', conversation, steering = {}, isStrict = false, forgetsThoughts = false } = one;
  const headers: Readonly<Record<string, string>> = isStrict ? { 'x-weir-strict': 'true' } : {};
  const pair: Pair = { from: client.dialect, to };
  const send = (said: Conversation, more: Readonly<Record<string, string>>): Promise<BenchReply> =>
    bench.send({ client, to, model, stream, conversation: said, steering: more, headers });
  const label = `${one.name}: ${client.dialect} to ${to}, ${stream ? 'streamed' : 'whole'}`;
  const reply = await send(conversation, steering);
  const expectation = one.expect?.(pair) ?? {};
  const said = checkStep({ one, client, to, stream, reply, conversation }, expectation);
  const outcome = outcomeOf(reply, expectation);
  if (said === undefined || reply.truth === undefined) return { outcome, booked: [] };
  const isExact = one.isEstimated !== true;
  const booked = [{ label, callId: reply.callId, truth: reply.truth, isExact }];
  if (one.continued === undefined) return { outcome, booked };
  const first = reply.truth.plannedReply;
  assert.ok(first);
  const continued = continueWith(conversation, said, forgetsThoughts);
  const second = await send(continued, {});
  checkStep({ one, client, to, stream, reply: second, conversation: continued }, one.continued(pair, first));
  return {
    outcome,
    booked: [...booked, ...(second.truth === undefined ? [] : [{ label, callId: second.callId, truth: second.truth, isExact }])],
  };
}
