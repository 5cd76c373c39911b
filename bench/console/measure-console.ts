// Questions of the console over HTTP at ten million calls, against the limits of its specification: `npm run bench --
// console [sqlite|postgres] [--calls 10000000] [--keys 100000] [--times 200] [--write]`. `--exports` measures exports
// too (`--exports=xlsx` one of them), `--staging` a staging of prices. `--only TEXT` asks only the questions with this
// text, and `--seconds 3` asks each question for about this long. `--data FOLDER` keeps the databases in an empty
// folder, and a later run uses them again; `--fill` only fills them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';

import { signInByLink, tokenClient, type ConsoleClient } from '../../conformance/admin/console-client.ts';
import { startWeir, type RunningWeir } from '../../conformance/support/start-weir.ts';
import { writePart } from '../benchmark-page.ts';
import { cpuSecondsOf } from '../cpu-seconds.ts';
import { type Filled, fillConsole } from './fill-console.ts';
import { exportTable, measureExport } from './measure-export.ts';
import { measureStaging } from './measure-staging.ts';
import { type BenchDatabase, makePostgres, makeSqlite } from './filled-database.ts';

type Question = {
  readonly name: string;
  readonly limitMs: number;
  readonly method?: 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** Between two questions: a large overview is the same for all who ask within a while. */
  readonly pauseMs?: number;
};
type Measured = Question & {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly cpuMs: number;
  /** Of the database's own processes. */
  readonly serverMs: number;
};

const option = (name: string, otherwise: number): number =>
  process.argv.includes(name) ? Number(process.argv[process.argv.indexOf(name) + 1]) : otherwise;
const sizes = { calls: option('--calls', 10_000_000), keys: option('--keys', 100_000) };
const times = option('--times', 200);
/** A question is asked for about this long, and at least so many times. */
const secondsMax = option('--seconds', Infinity);
const timesMin = 20;
const engines = ['sqlite', 'postgres'].filter((name) => process.argv.includes(name) || !/sqlite|postgres/.test(process.argv.join(' ')));
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
const dataFolder = process.argv.includes('--data') ? process.argv[process.argv.indexOf('--data') + 1] : undefined;
/** The folder of an engine, which is kept. */
const folderOf = (engine: string): string | undefined => {
  if (dataFolder === undefined) return undefined;
  const folder = join(dataFolder, engine);
  mkdirSync(folder, { recursive: true });
  return folder;
};
/**
 * The clock of libfaketime, if the benchmark runs under it: a day that has just begun has few calls, and the overview
 * of its end is to be measured.
 */
const clock = Object.fromEntries(
  ['LD_PRELOAD', 'FAKETIME', 'FAKETIME_DONT_FAKE_MONOTONIC'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
/** A token may ask 600 times a minute. */
const questionsPerToken = 400;
const warmUps = 5;
/** Answers to questions with pauses. */
const pausedTimes = 60;
const dayMs = 86_400_000;

function listQuestions(filled: Filled, nowMs: number): readonly Question[] {
  const today = Math.floor(nowMs / dayMs) * dayMs;
  const at = (days: number): string => new Date(today - days * dayMs).toISOString();
  const usage = (body: object): Pick<Question, 'method' | 'path' | 'body'> => ({ method: 'POST', path: '/usage/query', body });
  const calls = (query: string): Pick<Question, 'path'> => ({ path: `/calls?${query}` });
  const year = { from: at(364), to: at(-1) };
  return [
    { name: 'usage: year by day, users and models', limitMs: 200, ...usage({ ...year, group_by: ['user', 'model'], compare: 'previous' }) },
    { name: 'usage: month by day, models', limitMs: 60, ...usage({ from: at(30), to: at(0), granularity: 'day', group_by: ['model'] }) },
    {
      name: 'usage: year by day, a tag and models',
      limitMs: 200,
      ...usage({ ...year, group_by: ['tag:project', 'model'], compare: 'previous' }),
    },
    {
      name: 'usage: 31 days by day in another zone',
      limitMs: 800,
      ...usage({ from: at(31), to: at(0), granularity: 'day', time_zone: 'Asia/Kathmandu', group_by: ['user', 'model'] }),
    },
    { name: 'calls: first page', limitMs: 100, ...calls('') },
    { name: 'calls: a user', limitMs: 40, ...calls(`user=${filled.users[0]}`) },
    { name: 'calls: a model', limitMs: 40, ...calls(`model=${filled.models[0]}`) },
    { name: 'calls: an upstream', limitMs: 40, ...calls(`upstream=${filled.upstreams[0]}`) },
    { name: 'calls: failures', limitMs: 40, ...calls('end=failed') },
    { name: 'calls: a needle (nothing costs that much)', limitMs: 100, ...calls('amount_min_usd=1000') },
    { name: 'calls: a page half a year ago', limitMs: 100, ...calls(`to=${at(180)}`) },
    { name: 'a call, by its id', limitMs: 20, path: `/calls/${filled.callId}` },
    { name: 'its receipt', limitMs: 20, path: `/calls/${filled.callId}/receipt` },
    { name: 'a call, by the id of its reply', limitMs: 20, path: `/calls/${filled.replyId}` },
    { name: 'overview', limitMs: 80, path: '/overview' },
    { name: 'overview, of callers that share nothing', limitMs: 80, path: '/overview', pauseMs: 2500 },
    { name: 'search: the id of a call', limitMs: 50, path: `/search?q=${filled.callId}` },
    { name: 'search: a part of names', limitMs: 50, path: '/search?q=owner-01' },
    { name: `keys: first page of ${filled.keys}`, limitMs: 60, path: '/keys' },
    { name: 'keys: unused for half a year', limitMs: 60, path: `/keys?unused_since=${at(180)}` },
  ];
}

type Clients = { readonly of: (index: number) => ConsoleClient; readonly token: string; readonly operator: ConsoleClient };

/** Clients that take turns, so that none asks more often than the console allows. */
async function createClients(weir: RunningWeir, questions: number): Promise<Clients> {
  const browser = await signInByLink(weir.consoleUrl, weir.consoleLink);
  const clients: ConsoleClient[] = [];
  let token = '';
  for (let made = 0; made < Math.ceil(questions / questionsPerToken); made += 1) {
    const body = { name: `bench-${Date.now()}-${made}`, permissions: ['usage:read', 'calls:read', 'keys:read', 'upstreams:read'] };
    const answer = await browser.send('POST', '/api/v1/admin_tokens', body);
    if (answer.status !== 201) throw new Error(answer.text);
    token = String(answer.body['secret']);
    clients.push(tokenClient(weir.consoleUrl, token));
  }
  return { of: (index) => clients[index % clients.length] ?? browser, token, operator: browser };
}

const idleSeconds = 10;

/**
 * Processor time that the program takes in a second without questions. Answers take long on a busy machine, and this
 * would count as theirs.
 */
async function measureIdle({ process: { pid } }: RunningWeir): Promise<number> {
  const before = cpuSecondsOf(pid);
  await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000));
  return (cpuSecondsOf(pid) - before) / idleSeconds;
}

async function measure(
  { weir, database, idle }: { readonly weir: RunningWeir; readonly database: BenchDatabase; readonly idle: number },
  clients: Clients,
  questions: readonly Question[],
): Promise<readonly Measured[]> {
  let asked = 0;
  const measured: Measured[] = [];
  for (const question of questions) {
    let unanswered = 0;
    const ask = async (): Promise<number> => {
      const before = performance.now();
      const answer = await clients.of((asked += 1)).send(question.method ?? 'GET', `/api/v1${question.path}`, question.body);
      if (answer.status === 503) unanswered += 1;
      else if (answer.status !== 200) throw new Error(`${question.name}: ${answer.status} ${answer.text}\n${weir.output().slice(-2000)}`);
      return performance.now() - before;
    };
    for (let warm = 0; warm < warmUps; warm += 1) await ask();
    // Only while a question is answered: what a program does in a pause is not its cost.
    let [cpu, serverCpu, askedMs] = [0, 0, 0];
    unanswered = 0;
    const taken: number[] = [];
    const beganMs = performance.now();
    const most = question.pauseMs === undefined ? times : Math.min(times, pausedTimes);
    const endMs = beganMs + secondsMax * 1000;
    for (let time = 0; time < most && (time < timesMin || performance.now() < endMs); time += 1) {
      if (question.pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, question.pauseMs));
      const before = [cpuSecondsOf(weir.process.pid), database.serverCpuSeconds()] as const;
      const tookMs = await ask();
      taken.push(tookMs);
      askedMs += tookMs;
      cpu += cpuSecondsOf(weir.process.pid) - before[0];
      serverCpu += database.serverCpuSeconds() - before[1];
    }
    const cpuMs = Math.max(0, cpu * 1000 - idle * askedMs) / taken.length;
    const serverMs = (serverCpu * 1000) / taken.length;
    taken.sort((one, other) => one - other);
    const part = (share: number): number => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0;
    const name = unanswered === 0 ? question.name : `${question.name} (${unanswered} of ${taken.length} unanswered: 503)`;
    const row = { ...question, name, p50Ms: part(0.5), p95Ms: part(0.95), cpuMs, serverMs };
    console.log(
      `${question.name.padEnd(44)} p50 ${row.p50Ms.toFixed(1)}  p95 ${row.p95Ms.toFixed(1)}  CPU ${cpuMs.toFixed(1)} + ${serverMs.toFixed(1)}  limit ${row.limitMs}`,
    );
    measured.push(row);
  }
  return measured;
}

async function packAll(database: BenchDatabase, nowMs: number): Promise<void> {
  const store = await database.openStore();
  try {
    while ((await store.packUsageDay(nowMs)) === 'more');
    // A running console packs them beside its answers, which would count as theirs.
    while ((await store.packCalls(nowMs)) === 'more');
  } finally {
    await store.close();
  }
}

type Prepared = { readonly filled: Filled; readonly nowMs: number; readonly packSeconds: number | undefined };

/** Fills a database, or reuses what an earlier run has filled it with. */
async function fillOrReuse(database: BenchDatabase): Promise<Prepared> {
  const path = join(database.dataDirectory, 'filled.json');
  const isFilled = existsSync(path);
  const nowMs = Date.now();
  const known = isFilled
    ? (JSON.parse(readFileSync(path, 'utf8')) as Pick<Prepared, 'filled' | 'nowMs'>)
    : { filled: await fillConsole(database, sizes, nowMs), nowMs };
  writeFileSync(path, JSON.stringify(known));
  const before = performance.now();
  // There is nothing left to pack, unless the run before was ended.
  await packAll(database, known.nowMs);
  return { ...known, packSeconds: isFilled ? undefined : (performance.now() - before) / 1000 };
}

const exportedCalls = 1_000_000;
/** `--exports`, or only some of them: `--exports=xlsx`. */
const exportFormats = process.argv
  .find((argument) => /^--exports(?:=|$)/.test(argument))
  ?.replace(/^--exports$/, '--exports=csv,xlsx')
  .slice('--exports='.length)
  .split(',');

async function measureExports(weir: RunningWeir, clients: Clients, { filled, nowMs }: Prepared): Promise<readonly string[]> {
  // Calls are spread evenly over a year.
  const days = Math.round((365 * exportedCalls) / filled.calls);
  const query = `from=${new Date(nowMs - days * dayMs).toISOString()}&to=${new Date(nowMs).toISOString()}`;
  const rows = [];
  for (const format of exportFormats ?? []) rows.push(await measureExport(weir, clients.token, query, format));
  const count = Math.round((filled.calls * days) / 365).toLocaleString('en');
  return [`An export of about ${count} calls:`, '', ...exportTable(rows), ''];
}

const stagedCalls = 1_200_000;

/** A draft with a price for each model. */
function draftFor(models: readonly string[]): object {
  const known = { vendor: 'openai', effectiveFrom: '2025-01-01', source: 'https://example.com/contract', checked: '2026-11-01' };
  const tiers = [{ inputAbove: 0, prices: { input: '9', output: '90' } }];
  return { book: { version: 'bench', currency: 'USD', entries: models.map((model) => ({ ...known, model, displayName: model, tiers })) } };
}

async function measureStagings(weir: RunningWeir, { operator }: Clients, { filled }: Prepared): Promise<readonly string[]> {
  const days = Math.round((365 * stagedCalls) / filled.calls);
  const table = await measureStaging(weir, operator, draftFor(filled.models), days);
  return [
    'Booked calls priced again with a draft, while the gateway of the process is asked 200 times a second whether it lives:',
    '',
    ...table,
    '',
  ];
}

/** @returns the part of the page; undefined if the database was only filled */
async function measureEngine(database: BenchDatabase): Promise<string | undefined> {
  try {
    const load = (loadavg()[0] ?? 0).toFixed(1);
    const prepared = await fillOrReuse(database);
    if (process.argv.includes('--fill')) return undefined;
    const { filled, nowMs, packSeconds } = prepared;
    await using weir = await startWeir({
      command: 'start',
      dataDirectory: database.dataDirectory,
      config: database.config,
      environment: { WEIR_CONSOLE_PORT: '0', ...clock },
      readyWithinMs: 300_000,
    });
    const questions = listQuestions(filled, nowMs).filter(({ name }) => only === undefined || name.includes(only));
    const clients = await createClients(weir, questions.length * (times + warmUps));
    for (let warm = 0; warm < warmUps; warm += 1) await clients.of(0).send('GET', '/api/v1/overview');
    const idle = await measureIdle(weir);
    const rows = await measure({ weir, database, idle }, clients, questions);
    const exports = exportFormats !== undefined ? await measureExports(weir, clients, prepared) : [];
    const stagings = process.argv.includes('--staging') ? await measureStagings(weir, clients, prepared) : [];
    await weir.stop();
    return [
      `# The console with ${database.name}`,
      '',
      `Written by \`npm run bench -- console ${database.name === 'SQLite' ? 'sqlite' : 'postgres'} --write\`: up to ${times} answers each over HTTP, one after the other, from`,
      `\`weir start\` (${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}). There were ${filled.calls.toLocaleString('en')} calls and`,
      `${filled.keys.toLocaleString('en')} keys; the sums of usage are those of a hundred million calls, with 600 groups a day for 396 days. CPU is the`,
      `time of all threads of the process for one answer, without the ${Math.round(idle * 1000)} ms a second that it takes without questions, and`,
      `after the plus that of the database's server. The load of the machine was ${load}: if that is more than one, times`,
      'include the work of other programs, and CPU is the figure to compare.',
      '',
      ...(packSeconds === undefined ? [] : [`Packing days and hours of calls at once took ${packSeconds.toFixed(1)} s.`, '']),
      '| Question | limit ms | p50 ms | p95 ms | CPU ms |',
      '|---|---|---|---|---|',
      ...rows.map(
        ({ name, limitMs, p50Ms, p95Ms, cpuMs, serverMs }) =>
          `| ${name} | ${limitMs} | ${[p50Ms, p95Ms, cpuMs].map((ms) => ms.toFixed(1)).join(' | ')}${serverMs === 0 ? '' : ` + ${serverMs.toFixed(1)}`} |`,
      ),
      '',
      ...exports,
      ...stagings,
    ].join('\n');
  } finally {
    await database.end();
  }
}

for (const engine of engines) {
  const page = await measureEngine(engine === 'sqlite' ? makeSqlite(folderOf(engine)) : await makePostgres(folderOf(engine)));
  if (page !== undefined) console.log(page);
  if (page !== undefined && process.argv.includes('--write')) writePart(engine === 'sqlite' ? 'sqlite' : 'postgres', page);
}
