import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { runCommand } from '../programs/run-command.ts';
import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import {
  configOf,
  eventsOf,
  type Received,
  secret,
  spend,
  startHangingReceiver,
  startMailServer,
  startReceiver,
  startUpstream,
} from './alert-bench.ts';

const callback = (url: string) => ({ type: 'callback', url, secret, privateAddresses: true });

const untilCount = (received: readonly Received[], count: number) =>
  eventually(
    () => eventsOf(received),
    ({ length }) => length >= count,
  );

function makeDirectory(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'weir-alerts-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function userOf({ dataDirectory }: ServedWeir): Promise<string> {
  const listed = await runCommand(['users', 'list', '--json'], { WEIR_DATA_DIR: dataDirectory });
  return (JSON.parse(listed.stdout) as readonly { readonly name: string }[])[0]?.name ?? '';
}

async function limit(weir: ServedWeir, ...options: readonly string[]): Promise<void> {
  const { code, stderr } = await runCommand(['users', 'limit', await userOf(weir), ...options], { WEIR_DATA_DIR: weir.dataDirectory });
  assert.equal(code, 0, stderr);
}

/** Spends, and waits until the gateway has read a new limit. */
async function spendAll(weir: ServedWeir, ...tokens: readonly number[]): Promise<void> {
  for (const each of tokens) assert.equal(await spend(weir, each), 200);
}

describe('alerts', { concurrency: true }, () => {
  test('a spend limit is announced once at 50, 80, 95 and 100 %, its refusals too, and a restart repeats nothing', async (context) => {
    const { url, received } = await startReceiver(context);
    const upstream = await startUpstream(context);
    const dataDirectory = makeDirectory(context);
    const config = configOf(upstream, { channels: { ops: callback(url) } });
    {
      await using weir = await serveWeir({ config, dataDirectory, monitor: false });
      await limit(weir, '--spend-total', '10');
      await spendAll(weir, 40, 5);
      await spendAll(weir, 10);
      assert.deepEqual(await untilCount(received, 1), ['alert.firing budget 50']);
      await spendAll(weir, 30);
      assert.deepEqual((await untilCount(received, 2)).slice(1), ['alert.firing budget 80']);
      await spendAll(weir, 11);
      assert.deepEqual((await untilCount(received, 3)).slice(2), ['alert.firing budget 95']);
      // 9.6 USD are used: this call could cost 1 USD and is refused.
      await eventually(
        () => spend(weir, 10),
        (status) => status === 429 || status === 402,
      );
      assert.deepEqual((await untilCount(received, 4)).slice(3), ['alert.firing budget 100']);
      const listed = await runCommand(['alerts', 'list', '--json'], { WEIR_DATA_DIR: dataDirectory });
      const [item] = JSON.parse(listed.stdout);
      assert.deepEqual([item.code, item.severity, item.period], ['budget', 'critical', 'total']);
      assert.match(item.summary, /9\.6 of 10 USD/);
      assert.match(item.action, /weir users limit .* --spend-total/);
    }
    // A new key that expires tomorrow shows that the next gateway has searched for problems.
    const created = await runCommand(['keys', 'create', '--user', 'later', '--name', 'k', '--expires', '20h'], {
      WEIR_DATA_DIR: dataDirectory,
    });
    assert.equal(created.code, 0, created.stderr);
    await using again = await serveWeir({ config, dataDirectory, monitor: false });
    assert.deepEqual((await untilCount(received, 5)).slice(4), ['alert.firing key_expiring 1']);
    await limit(again, '--spend-total', '100');
    assert.deepEqual((await untilCount(received, 6)).slice(5), ['alert.resolved budget 100']);
    const ids = received.map(({ headers }) => headers['webhook-id']);
    assert.equal(new Set(ids).size, ids.length);
    for (const { body, headers } of received) new Webhook(secret).verify(body, { ...headers } as Record<string, string>);
    for (const name of readdirSync(dataDirectory).filter((entry) => entry.startsWith('weir.sqlite')))
      assert.ok(!readFileSync(join(dataDirectory, name)).includes('very-secret-path'), name);
  });

  test('an upstream that dies and recovers is announced twice: down and resolved, with a restart in between', async (context) => {
    const { url, received } = await startReceiver(context);
    const upstream = await startUpstream(context);
    const dataDirectory = makeDirectory(context);
    const config = configOf(upstream, { off: ['budget'], channels: { ops: callback(url) } });
    {
      await using weir = await serveWeir({ config, dataDirectory, monitor: false });
      assert.equal(await spend(weir, 1), 200);
      upstream.isDown = true;
      // Differing requests, so that the request is not the cause.
      for (let tokens = 1; tokens <= 12; tokens += 1) await spend(weir, tokens);
      assert.deepEqual(await untilCount(received, 1), ['alert.firing upstream_down']);
    }
    await using again = await serveWeir({ config, dataDirectory, monitor: false });
    for (let tokens = 1; tokens <= 12; tokens += 1) await spend(again, tokens);
    upstream.isDown = false;
    // The outage ends with a probe that succeeds.
    await eventually(
      () => spend(again, 3).then(() => received.length),
      (length) => length >= 2,
    );
    assert.deepEqual(eventsOf(received), ['alert.firing upstream_down', 'alert.resolved upstream_down']);
    const resolved = await runCommand(['alerts', 'list', '--resolved', '--json'], { WEIR_DATA_DIR: dataDirectory });
    assert.match(resolved.stdout, /Upstream server is down: calls fail for dear/);
    const none = await runCommand(['alerts', 'list'], { WEIR_DATA_DIR: dataDirectory });
    assert.equal(none.stdout, 'no problems\n');
  });

  test('channels that hang, refuse or redirect do not delay others, and what was not delivered stays visible', async (context) => {
    const hanging = await startHangingReceiver(context);
    const refusing = await startReceiver(context, 500);
    const lying = await startReceiver(context, 302);
    const slack = await startReceiver(context, 200);
    const teams = await startReceiver(context, 202);
    const { port, mails } = await startMailServer(context);
    const upstream = await startUpstream(context);
    const web = (type: string, url: string) => ({ type, url, privateAddresses: true });
    const channels = {
      hanging: web('slack', hanging.url),
      refusing: web('slack', refusing.url),
      lying: callback(lying.url),
      slack: web('slack', slack.url),
      teams: web('teams', teams.url),
      mail: {
        type: 'email',
        smtp: { host: '127.0.0.1', port, security: 'none' },
        from: 'Weir <weir@test.example>',
        to: ['ops@test.example'],
      },
      quiet: { ...web('slack', refusing.url), rules: ['books'] },
      urgent: { ...web('slack', refusing.url), severity: 'critical' },
    };
    await using weir = await serveWeir({ config: configOf(upstream, { channels }), monitor: false });
    await limit(weir, '--spend-total', '10');
    await spendAll(weir, 40, 42);
    await eventually(
      () => [
        slack.received.length,
        teams.received.length,
        mails.length,
        refusing.received.length,
        lying.received.length,
        hanging.requests(),
      ],
      (counts) => counts.every((count) => count > 0),
    );
    const message = JSON.parse(slack.received[0]?.body ?? '{}');
    assert.match(message.text, /^Warning: User .* has used 82 % of its spend limit/);
    const card = JSON.parse(teams.received[0]?.body ?? '{}').attachments[0];
    assert.equal(card.contentType, 'application/vnd.microsoft.card.adaptive');
    assert.equal(card.content.type, 'AdaptiveCard');
    assert.match(
      mails[0] ?? '',
      /Subject: \[Weir\] Warning: User[\s\S]*To: ops@test\.example|To: ops@test\.example[\s\S]*Subject: \[Weir\] Warning/,
    );
    const open = await eventually(
      async () =>
        JSON.parse((await runCommand(['alerts', 'messages', '--json'], { WEIR_DATA_DIR: weir.dataDirectory })).stdout) as readonly Record<
          string,
          unknown
        >[],
      (rows) =>
        rows.some(({ channel, last_problem }) => channel === 'refusing' && last_problem !== null) &&
        rows.some(({ channel, last_problem }) => channel === 'lying' && last_problem !== null),
    );
    const problems = new Map(open.map(({ channel, last_problem }) => [channel, last_problem]));
    assert.equal(problems.get('refusing'), 'the receiver answered with status 500');
    assert.equal(problems.get('lying'), 'the receiver answered with status 302');
    assert.ok(problems.has('hanging') && !problems.has('slack') && !problems.has('quiet') && !problems.has('urgent'));
    assert.equal(slack.received.length, 1);
  });

  test('weir alerts test tries each channel, and the exit code is 1 if one fails', async (context) => {
    const good = await startReceiver(context);
    const bad = await startReceiver(context, 404);
    const upstream = await startUpstream(context);
    const config = configOf(upstream, {
      channels: { good: callback(good.url), bad: { type: 'teams', url: bad.url, privateAddresses: true } },
    });
    await using weir = await serveWeir({ config, monitor: false });
    const run = (...words: readonly string[]) =>
      runCommand(['alerts', ...words], { WEIR_DATA_DIR: weir.dataDirectory, WEIR_CONFIG: join(weir.dataDirectory, 'weir.yaml') });
    const both = await run('test');
    assert.deepEqual([both.code, both.stdout], [1, 'good: delivered\nbad: failed: the receiver answered with status 404\n']);
    const one = await run('test', 'good', '--json');
    assert.deepEqual([one.code, JSON.parse(one.stdout)], [0, [{ channel: 'good', delivered: true, problem: null }]]);
    const event = new Webhook(secret).verify(good.received[0]?.body ?? '', { ...good.received[0]?.headers } as Record<string, string>);
    assert.equal((event as { readonly type: string }).type, 'alert.test');
    const unknown = await run('test', 'nobody');
    assert.match(unknown.stderr, /no channel "nobody"; there are good, bad/);
    assert.match((await run('secret')).stdout, /^whsec_\S{44}\n$/);
  });
});
