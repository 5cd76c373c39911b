import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { openLedger } from '../support/read-ledger.ts';
import type { SimulatedWeir } from '../support/start-simulated-weir.ts';
import type { AgentProgram } from './agent-program.ts';
import { type AgentUpstream, agentUpstreams, cloudUpstreams, startAgentWeir } from './benches.ts';
import { checkRun } from './check-run.ts';
import { installPrograms } from './install-programs.ts';
import { agentPrograms } from './programs.ts';
import { recordTraffic } from './record-traffic.ts';
import { runProgram } from './run-program.ts';
import { agentTasks, type AgentTask } from './tasks.ts';
import { keepOutcomes, renderTable, type SeenOutcome, writeTable } from './write-table.ts';

/**
 * Runs real agent programs against a running Weir with simulated vendors: every program on every upstream, with a plain
 * answer and with a tool loop. `npm test` does not include it, because the programs have hundreds of megabytes and come
 * from the npm registry.
 *
 * Options after `npm run test:agents --`:
 *
 * - `--programs DIR` stores the programs there, and uses those that exist
 * - `--only TEXT` runs programs whose title contains it
 * - `--upstream NAMES` runs at these upstreams of benches.ts, separated by commas
 * - `--warnings` prints the translation warnings that programs received
 * - `--results FILE` adds the outcomes to those of earlier runs
 * - `--write` writes all outcomes at clouds into docs/reference/agent-programs.md
 */
const { values: options } = parseArgs({
  options: {
    programs: { type: 'string' },
    only: { type: 'string', default: '' },
    upstream: { type: 'string' },
    warnings: { type: 'boolean', default: false },
    results: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

/** The owner of the first API key. */
const firstUser = 'admin';

type Outcome = {
  readonly program: AgentProgram;
  readonly upstream: AgentUpstream;
  readonly task: AgentTask;
  readonly durationMs: number;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
};

type Bench = {
  readonly directory: string;
  readonly upstream: AgentUpstream;
  readonly running: SimulatedWeir;
};

async function runTasks(program: AgentProgram, { directory, upstream, running }: Bench): Promise<readonly Outcome[]> {
  const { weir, simulator } = running;
  const traffic = await recordTraffic(weir.gatewayUrl);
  const ledger = await openLedger(weir.dataDirectory);
  const outcomes: Outcome[] = [];
  try {
    for (const task of agentTasks) {
      simulator.reset();
      const run = await runProgram({ directory, program, task, gatewayUrl: traffic.url, apiKey: weir.apiKey });
      const calls = traffic.take();
      // The gateway may query an upstream for its models at any time.
      const truths = simulator.records().filter(({ method }) => method === 'POST');
      const problems = await checkRun({ program, upstream, task, run, calls, truths, ledger, userName: firstUser });
      const warnings = [...new Set(calls.flatMap(({ replyHeaders }) => replyHeaders['x-gateway-warning'] ?? []))].map(String);
      outcomes.push({ program, upstream, task, durationMs: run.durationMs, problems, warnings });
    }
  } finally {
    await ledger.close();
    await traffic.close();
  }
  return outcomes;
}

function report({ program, upstream, task, durationMs, problems, warnings }: Outcome): void {
  const verdict = problems.length === 0 ? 'passed' : 'FAILED';
  const lines = [
    `${verdict}  ${program.title} on ${upstream.title}, ${task.title} (${durationMs} ms)`,
    ...problems.map((text) => `    ${text}`),
  ];
  if (options.warnings) lines.push(...warnings.map((text) => `    warned: ${text}`));
  process.stdout.write(`${lines.join('\n')}\n`);
}

const programs = agentPrograms.filter(({ title }) => title.includes(options.only));
const names = options.upstream?.split(',');
const upstreams = agentUpstreams.filter(({ name }) => names === undefined || names.includes(name));
const directory = options.programs === undefined ? mkdtempSync(join(tmpdir(), 'weir-agents-')) : resolve(options.programs);
const outcomes: Outcome[] = [];
try {
  installPrograms(directory, programs);
  for (const upstream of upstreams) {
    await using running = await startAgentWeir(upstream);
    for (const program of programs) {
      const ended = await runTasks(program, { directory, upstream, running });
      ended.forEach(report);
      outcomes.push(...ended);
    }
  }
} finally {
  if (options.programs === undefined) rmSync(directory, { recursive: true, force: true });
}
const done = outcomes.map(({ program, upstream, task, problems }): SeenOutcome => ({
  program: program.title,
  version: program.version,
  upstream: upstream.name,
  task: task.title,
  passed: problems.length === 0,
}));
const seen = options.results === undefined ? done : keepOutcomes(resolve(options.results), done);
process.stdout.write(`\n${renderTable(seen, programs, upstreams)}\n`);
if (options.write) writeTable(renderTable(seen, agentPrograms, cloudUpstreams));
process.exitCode = outcomes.length > 0 && outcomes.every(({ problems }) => problems.length === 0) ? 0 : 1;
