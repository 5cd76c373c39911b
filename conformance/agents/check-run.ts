import { hash } from 'node:crypto';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import type { Truth } from '../support/audit.ts';
import type { Ledger } from '../support/read-ledger.ts';
import type { AgentProgram } from './agent-program.ts';
import type { AgentUpstream } from './benches.ts';
import type { SeenCall } from './record-traffic.ts';
import type { BoundedRun } from './run-bounded.ts';
import { type AgentTask, noteText } from './tasks.ts';

/** The facts about one run: the program's behaviour, the gateway's answers, the upstream's requests, and the ledger. */
export type ObservedRun = {
  readonly program: AgentProgram;
  readonly upstream: AgentUpstream;
  readonly task: AgentTask;
  readonly run: BoundedRun;
  readonly calls: readonly SeenCall[];
  readonly truths: readonly Truth[];
  readonly ledger: Ledger;
  readonly userName: string;
};

const generation =
  /\/(?:messages|responses|chat\/completions)(?:\?|$)|:(?:streamGenerateContent|generateContent|rawPredict|streamRawPredict)|\/invoke(?:-with-response-stream)?$/;

/** Whether a model answers the call, so that it is billed. The program waits for it. */
function isGeneration({ method, path, wasLeft }: SeenCall): boolean {
  return !wasLeft && method === 'POST' && generation.test(path) && !path.includes('count-tokens');
}

/** Every problem of a run, one sentence each. */
export async function checkRun(observed: ObservedRun): Promise<readonly string[]> {
  return [...checkProgram(observed), ...checkTraffic(observed), ...checkUpstream(observed), ...(await checkBooks(observed))];
}

function checkProgram({ run, task }: ObservedRun): readonly string[] {
  const problems: string[] = [];
  if (run.timedOut) problems.push(`still running after ${run.durationMs} ms`);
  else if (run.code !== 0) problems.push(`exit code ${run.code ?? 'of a signal'}`);
  if (!run.stdout.includes(task.says)) problems.push(`did not print "${task.says}"`);
  if (problems.length > 0) problems.push(`it printed: ${`${run.stdout}\n${run.stderr}`.trim().slice(-600)}`);
  return problems;
}

function checkTraffic({ program, calls }: ObservedRun): readonly string[] {
  const problems: string[] = [];
  const bodies = new Set<string>();
  for (const call of calls) {
    const name = `${call.method} ${call.path}`;
    if ((call.status === 0 && !call.wasLeft) || call.status >= 500)
      problems.push(`${name}: status ${call.status} ${call.error.slice(0, 300)}`);
    if (!isGeneration(call)) continue;
    if (call.status >= 400) problems.push(`${name}: status ${call.status} ${call.error.slice(0, 300)}`);
    // In Bedrock mode, Claude Code asks twice whether models answer.
    if (bodies.has(call.body) && program.isInCloudMode !== true) problems.push(`${name}: sent twice`);
    bodies.add(call.body);
  }
  return problems;
}

function checkUpstream({ program, upstream, task, calls, truths }: ObservedRun): readonly string[] {
  const problems: string[] = [];
  for (const truth of truths) {
    if (truth.status !== 200 || truth.ending !== 'completed')
      problems.push(`upstream, ${truth.method} ${truth.path}: ${truth.ending}, status ${truth.status}`);
  }
  // A function may stand in for the schema of a title.
  const called = truths.flatMap(({ plannedReply }) => plannedReply?.toolCalls ?? []).filter(({ name }) => name === program.readTool.name);
  const toolCalls = called.length;
  if (toolCalls !== task.toolCalls) problems.push(`the model called ${toolCalls} tools instead of ${task.toolCalls}`);
  if (task.toolCalls > 0 && !JSON.stringify(truths.at(-1)?.requestBody ?? '').includes(noteText))
    problems.push('the result of the tool did not reach the upstream');
  const isReshaped = program.isInCloudMode === true || upstream.cloud !== undefined;
  if (program.dialect === upstream.dialect && !isReshaped) problems.push(...checkPassthrough(calls, truths));
  return problems;
}

/** If client and upstream use the same interface, bytes and betas arrive as they were sent. */
function checkPassthrough(calls: readonly SeenCall[], truths: readonly Truth[]): readonly string[] {
  return calls.filter(isGeneration).flatMap((call) => {
    const truth = truths.find(({ requestBodySha256 }) => requestBodySha256 === hash('sha256', call.body));
    if (truth === undefined) return [`${call.path}: its ${call.body.length} characters did not arrive as they were sent`];
    const betas = call.headers['anthropic-beta'];
    return truth.requestHeaders['anthropic-beta'] === betas ? [] : [`${call.path}: the betas ${String(betas)} did not arrive`];
  });
}

async function checkBooks({ program, upstream, calls, ledger, userName }: ObservedRun): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const call of calls.filter(isGeneration)) {
    const callId = String(call.replyHeaders['x-weir-request-id']);
    const entry = await ledger.row(callId).catch(() => undefined);
    if (entry === undefined) problems.push(`${call.path}: not booked`);
    else if (call.status === 200) problems.push(...checkEntry(entry, call, { program, upstream, userName }));
  }
  return problems;
}

function checkEntry(
  entry: CallEntry,
  call: SeenCall,
  { program, upstream, userName }: Pick<ObservedRun, 'program' | 'upstream' | 'userName'>,
): readonly string[] {
  const expected = {
    end: 'finished',
    userName,
    // In the mode of a cloud it has the cloud's name for the model.
    ...(program.isInCloudMode !== true && { requestedModel: modelOf(call) }),
    upstream: upstream.name,
    dialect: program.dialect,
    upstreamDialect: upstream.dialect,
    estimated: false,
  };
  const booked: Record<string, unknown> = { ...entry, upstreamDialect: entry.translation?.upstreamDialect ?? entry.dialect };
  return Object.entries(expected)
    .filter(([name, value]) => booked[name] !== value)
    .map(([name, value]) => `${call.path}: booked with ${name} ${String(booked[name])} instead of ${String(value)}`);
}

function modelOf({ path, body }: SeenCall): unknown {
  const named = /\/models\/([^:/]+):/.exec(path)?.[1];
  return named ?? (JSON.parse(body) as { readonly model?: unknown }).model;
}
