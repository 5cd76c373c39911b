import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { parse, stringify } from 'yaml';

import { alertQueries } from '../../checks/dashboards/alert-rules.ts';
import { dashboards } from '../../checks/dashboards/observability-files.ts';
import { findPort, waitUntilOpen } from '../deploy/start-proxy.ts';
import { readPage } from '../guides/read-page.ts';
import { call, eventually, post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';

const root = join(import.meta.dirname, '../..');
const rules = join(root, 'deploy/prometheus/alerts.yaml');
const skip = spawnSync('prometheus', ['--version']).status === 0 ? false : 'prometheus is not installed (apt-get install prometheus)';

type Rule = { readonly name: string; readonly health: string; readonly lastError?: string; readonly state: string };
type Answer = { readonly status: string; readonly error?: string; readonly data: { readonly result: readonly object[] } };

const guide = readFileSync(join(root, 'docs/guide/observe.md'), 'utf8');
/** The questions of the guide, in a table whose cells have escaped bars. */
const questions: readonly string[] = [...guide.matchAll(/^\| .* \| `(.*)` \|$/gm)]
  .map(([, query = '']) => query.replaceAll(String.raw`\|`, '|'))
  .filter((query) => /weir_|gen_ai_/.test(query) && !query.startsWith('weir_video_'));

/** Queries of all panels, as Grafana asks them when everything is selected. */
const panels = dashboards
  .flatMap(({ rows }) => rows.flatMap((row) => row.panels))
  .flatMap(({ queries }) => queries.map(({ query }) => query.replaceAll(/\$__\w+/g, '1m').replaceAll(/\$\w+/g, '.*')));

describe('a real Prometheus with the files of deploy/prometheus', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-prometheus-'));
  let simulated: SimulatedWeir;
  let program: ChildProcess | undefined;
  let address = '';

  before(async () => {
    simulated = await startSimulatedGateway({ weir: { environment: { WEIR_METRICS_PORT: '0' } } });
    const port = await findPort();
    address = `http://127.0.0.1:${port}`;
    const config = parse(readFileSync(join(root, 'deploy/prometheus/prometheus.yaml'), 'utf8')) as Record<string, any>;
    const [job] = config['scrape_configs'] as readonly { readonly job_name: string }[];
    // Its own file, but for this machine and in seconds.
    const adapted = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: job?.job_name, static_configs: [{ targets: [new URL(simulated.weir.metricsUrl).host] }] }],
    };
    const file = join(folder, 'prometheus.yaml');
    writeFileSync(file, stringify(adapted));
    const words = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`];
    program = spawn('prometheus', words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    for (const stream of [program.stdout, program.stderr]) stream?.on('data', (piece: Buffer) => void (printed += piece.toString()));
    await waitUntilOpen(program, port, () => printed);
  });
  after(async () => {
    if (program !== undefined && program.exitCode === null) {
      program.kill('SIGTERM');
      await once(program, 'exit');
    }
    await simulated?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (query: string): Promise<Answer> => {
    const { json } = await call(`${address}/api/v1/query?query=${encodeURIComponent(query)}`);
    return json as Answer;
  };

  test('its own tool accepts the rules', () => {
    assert.match(execFileSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' }), /SUCCESS: \d+ rules found/);
  });

  test('its own tool accepts the configuration of compose.yaml and both of the guide', () => {
    const blocks = readPage(guide).filter(({ marker }) => marker?.value === 'conformance/observability/prometheus.deep.test.ts');
    assert.equal(blocks.length, 2);
    for (const text of [readFileSync(join(root, 'deploy/prometheus/prometheus.yaml'), 'utf8'), ...blocks.map((block) => block.text)]) {
      const file = join(folder, 'shown.yaml');
      writeFileSync(file, text.replace('/etc/prometheus/alerts.yaml', rules));
      assert.match(execFileSync('promtool', ['check', 'config', file], { encoding: 'utf8' }), /is valid prometheus config file syntax/);
    }
  });

  test('it scrapes a gateway under the name that the rules expect, and evaluates each rule without an error', async () => {
    await eventually(
      () => ask('up{job="weir"} == 1'),
      ({ data }) => data.result.length === 1,
    );
    const read = async (): Promise<readonly Rule[]> => {
      const { json } = await call(`${address}/api/v1/rules`);
      assert.ok(json);
      const { groups } = json.data as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
      return groups.flatMap((group) => group.rules);
    };
    const evaluated = await eventually(read, (all) => all.length > 0 && all.every(({ health }) => health !== 'unknown'));
    assert.equal(evaluated.length, alertQueries.length);
    assert.deepEqual(
      evaluated.filter(({ health, state }) => health !== 'ok' || state === 'firing').map(({ name, lastError }) => `${name}: ${lastError}`),
      [],
    );
  });

  test('every query of the dashboards, the rules and the guide is answered, and panels of calls have values', async () => {
    const headers = { authorization: `Bearer ${simulated.weir.apiKey}` };
    const chat = { model: 'gpt-4.1', stream: true, messages: [{ role: 'user', content: 'hello' }] };
    const calls = async (): Promise<Answer> => {
      // A rate needs calls between two scrapes.
      await post(`${simulated.weir.gatewayUrl}/v1/chat/completions`, chat, headers);
      return ask('sum(rate(weir_calls_total{job="weir"}[1m])) > 0');
    };
    await eventually(calls, ({ data }) => data.result.length === 1);
    assert.ok(panels.length > 40 && questions.length >= 5);
    const empty: string[] = [];
    for (const query of [...panels, ...alertQueries, ...questions]) {
      const { status, error, data } = await ask(query);
      assert.equal(status, 'success', `${query}: ${error}`);
      if (data.result.length === 0) empty.push(query);
    }
    const shown = panels.filter((query) => !empty.includes(query));
    assert.ok(shown.length > panels.length / 2, `${shown.length} of ${panels.length} panels have values`);
    for (const metric of ['weir_calls_total', 'weir_tokens_total', 'weir_cost_usd_total', 'gen_ai_server_time_to_first_token_seconds'])
      assert.ok(
        shown.some((query) => query.includes(metric)),
        metric,
      );
    // No alert is due while everything works.
    assert.deepEqual(
      alertQueries.filter((query) => !empty.includes(query) && !query.includes('absent')),
      [],
    );
  });
});
