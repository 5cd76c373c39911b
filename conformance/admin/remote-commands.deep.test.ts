import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { permissions } from '../../src/accounts/people/permissions.ts';
import { runCommand } from '../programs/run-command.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { signInByLink } from './console-client.ts';

/** Ids, secrets, times and hashes differ between two runs of a command. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/\b(?:per|adm|req)_[0-9a-z]{26}\b/g, '<id>')
    .replaceAll(/\b(?:at|bt|sk)-weir-\w+/g, '<secret>')
    .replaceAll(/\b\d+ (?:%|ms)/g, '<measured>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replaceAll(/\b[0-9A-Za-z]{10}\b/g, (word) => (/\d|[a-z][A-Z]/.test(word) ? '<id>' : word))
    .replaceAll(/#in=\w+/g, '#in=<code>')
    .replaceAll(/ {2,}/g, '  ');
}

const config = `
console: { readContent: true }
callbacks: { privateAddresses: true }
content: { ceiling: masked }
books: { retention: { months: 13 } }
alerts: { channels: { nobody: { type: teams, url: 'http://127.0.0.1:1/', privateAddresses: true } } }
`;

describe('commands on another machine', () => {
  let weir: ServedWeir;
  let token: string;
  const away = mkdtempSync(join(tmpdir(), 'weir-remote-'));
  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, config });
    const operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    token = String((await operator.send('POST', '/api/v1/admin_tokens', { name: 'remote', permissions: [...permissions] })).body['secret']);
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    rmSync(away, { recursive: true, force: true });
  });

  /** Words of a command, where `%` is `local` or `distant`, so that both runs make objects of their own. */
  const onThisMachine = (words: string) =>
    runCommand(words.replaceAll('%', 'local').split(' '), {
      WEIR_DATA_DIR: weir.dataDirectory,
      WEIR_CONSOLE_PORT: new URL(weir.consoleUrl).port,
      WEIR_CONFIG: join(weir.dataDirectory, 'weir.yaml'),
    });
  /** The option stands before `--`, after which nothing is an option. */
  function remotely(words: readonly string[]): readonly string[] {
    const at = words.indexOf('--');
    const place = ['--remote', weir.consoleUrl];
    return at === -1 ? [...words, ...place] : [...words.slice(0, at), ...place, ...words.slice(at)];
  }
  const onAnother = (words: string, environment: Readonly<Record<string, string>> = {}) =>
    runCommand(remotely(words.replaceAll('%', 'distant').split(' ')), {
      WEIR_DATA_DIR: join(away, 'none'),
      XDG_CONFIG_HOME: away,
      WEIR_ADMIN_TOKEN: token,
      ...environment,
    });

  /** Runs a command in both places, and returns what both printed. */
  async function both(words: string, code = 0): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const [local, remote] = [await onThisMachine(words), await onAnother(words)];
    const shorten = (text: string, name: string) => (words.includes('%') ? text.replaceAll(name, '%') : text);
    const plain = ({ stdout, stderr, code: ended }: typeof local, name: string) => ({
      stdout: shorten(withoutChance(stdout), name),
      stderr: shorten(withoutChance(stderr), name),
      code: ended,
    });
    assert.deepEqual(plain(remote, 'distant'), plain(local, 'local'), words);
    assert.equal(local.code, code, `${words}: ${local.stderr}`);
    return local;
  }
  /** Most changes run only remotely: a command is one function, and service.test.ts compares the two services. */
  async function change(words: string, code = 0): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const remote = await onAnother(words);
    assert.equal(remote.code, code, `${words}: ${remote.stderr}`);
    return remote;
  }
  const reads = async (words: string): Promise<string> => (await both(words)).stdout;

  test('people are made, changed, let in, signed out and removed', async () => {
    await both('people create pia-% --role viewer --email pia@example.com');
    await change('people update PIA-% --role finance --email none');
    assert.match(await reads('people list'), /pia-local +viewer[^]*pia-distant +finance|pia-distant +finance[^]*pia-local +viewer/);
    assert.match(await reads('people list --json'), /"has_password": false/);
    assert.match((await both('console link --person operator')).stdout, /#in=\w{43}\n$/);
    assert.match(await reads('people sessions operator'), /^SIGNED IN +BY [^]* link +20/);
    await reads('people sessions operator --json');
    await change('people sign-out pia-%');
    await change('people update pia-% --disable');
    assert.match((await change('console link --person pia-%', 1)).stderr, /is disabled/);
    await change('people delete pia-%');
    assert.match((await both('people delete pia-nobody', 1)).stderr, /there is no person/);
    assert.match((await both('people create operator --role viewer', 1)).stderr, /already a person named operator/);
    assert.match((await change('people update operator --disable', 1)).stderr, /last operator/);
    assert.match((await change('console link', 1)).stderr, /--remote needs --person/);
  });

  test('tokens are made, listed, rotated and removed', async () => {
    await change('admin-tokens create --name robot-% --permission usage:read --expires 1h');
    assert.match(await reads('admin-tokens list'), /robot-distant/);
    assert.match((await change('admin-tokens list --json')).stdout, /"permissions": \[\s+"usage:read"/);
    await change('admin-tokens rotate robot-% --overlap 1h');
    await change('admin-tokens delete robot-%');
    await change('admin-tokens delete robot-%', 1);
    await change('tokens create --name bill-% --expires 30d');
    assert.match(await reads('tokens list'), /bill-distant/);
    assert.match((await change('tokens list --json')).stdout, /"user": null/);
    await change('tokens rotate bill-% --overlap 0');
    await change('tokens delete bill-%');
    await change('tokens rotate bill-%', 1);
  });

  test('users, teams and keys are made, limited, listed and changed', async () => {
    await change('teams create red-% --rpm 90 --spend-per-month 50');
    await both('users create uma-% --concurrency 3');
    await change('users update uma-% --team red-% --prepaid');
    assert.match((await change('users update nobody --rpm 1', 1)).stderr, /there is no user "nobody"/);
    assert.match((await change('users update uma-% --team blue', 1)).stderr, /there is no team "blue"/);
    assert.match(await reads('users list'), /uma-distant .* red-distant +concurrency 3; prepaid/);
    assert.match(await reads('teams list --json'), /"users": \[\s+"uma-distant"/);
    const { stdout: secret } = await change('keys create --user uma-% --name app --rpm 60 --tags project=search');
    assert.match(secret, /^sk-weir-/);
    await change('keys update uma-%/app --strict --retention-days 7 --models gpt-5*');
    assert.match(await reads('keys list --user uma-distant'), /strict +project=search +rpm 60; models gpt-5\*/);
    await change('keys rotate uma-%/app --overlap 1h');
    await change('keys disable uma-%/app');
    assert.match((await both('keys disable uma-distant/none', 1)).stderr, /there is no key "uma-distant\/none"/);
    await change('keys delete uma-%/app');
    await change('teams remove uma-%');
    await change('teams delete red-%');
    await change('organization update --rpm 100000');
    assert.match(await reads('organization show'), /^rpm 100000\n/);
  });

  test('money is posted once for a reference, and the books add up', async () => {
    assert.match((await change('credits top-up admin 12.5 --reference invoice-%')).stderr, /^posted: .*, 12.5 USD; balance of admin/);
    assert.match((await change('credits top-up admin 12.5 --reference invoice-%')).stderr, /^was posted before/);
    assert.match((await change('credits top-up admin 13 --reference invoice-%', 1)).stderr, /was used for another amount/);
    assert.match((await both('credits top-up nobody 5', 1)).stderr, /there is no user "nobody"/);
    assert.match((await change('credits correct admin --against suspense -- -1')).stderr, /-1 USD/);
    assert.match(await reads('credits history admin --limit 2'), /correction +-1/);
    assert.match(await reads('credits balance'), /^USER/);
    await both('credits verify');
    assert.match((await change('credits verifications')).stdout, /^ENDED[^]*\d token:remote|^ENDED[^]* token:remote +\d+ +0\n/);
    assert.match((await both('credits verifications --json')).stdout, /"author": "token:remote",[^]*"adds_up": true/);
    const statement = await reads('credits statement admin --from 1d');
    assert.match(statement, /^admin, 20[^]* opening +0[^]* top_up +12.5[^]* correction +-1[^]* closing +11\.5\n/);
    assert.match(await reads('organization statement --json'), /"closing": \{[^]*"is_whole": true/);
    assert.match((await both('credits statement nobody', 1)).stderr, /there is no user "nobody"/);
    assert.match((await both('credits statement admin --from 2026-02-01 --to 2026-01-01', 1)).stderr, /--from must be before --to/);
    const book = join(away, 'statement.xlsx');
    assert.match((await change(`credits statement admin --output ${book}`)).stderr, /^wrote /);
    assert.equal(readFileSync(book).subarray(0, 2).toString(), 'PK');
    assert.match((await change(`credits statement admin --output ${book}`, 1)).stderr, /exists already/);
    assert.match(await reads('credits standings'), /^LEVEL +OWNER +LIMIT/);
    await both('credits leases');
    await change('keys create --user admin --name standing --rpm 60 --spend-per-day 5');
    const standing = await reads('credits standing admin --key standing --model gpt-5');
    assert.match(standing, /key +USD, day +5 [^]*key +requests a minute +60 +0 +- +60 +-\n[^]*gpt-5 may be called/);
    assert.match(await reads('credits standings --json --limit 5'), /"of": "day"/);
    assert.match(await reads('credits standings'), /key +admin\/standing +USD, day +5 /);
    assert.match((await both('credits standings --limit 0', 1)).stderr, /--limit must be an integer from 1 to 1000/);
    assert.match(await reads('credits standing admin --json'), /"user": "admin"/);
    assert.match((await both('credits standing nobody', 1)).stderr, /there is no user "nobody"/);
    assert.match((await both('credits standing admin --key none', 1)).stderr, /admin has no key named "none"/);
    assert.match(await reads('refusals --json'), /^\[/);
    assert.match((await both('credits refund req_none', 1)).stderr, /there is no call "req_none"/);
  });

  test('the audit log is listed, exported and verified, and names who used the console', async () => {
    assert.match(await reads('audit list --limit 3'), /^NO  TIME/);
    assert.match(await reads('audit list --limit 2 --action people.create --json'), /"actor": "token:remote"/);
    const lines = (await reads('audit export')).trim().split('\n');
    assert.equal(JSON.parse(lines.at(-1) ?? '').sequence, lines.length);
    assert.match(await reads('audit verify'), /rows, unbroken; head/);
    assert.match((await both('audit list --limit 0', 1)).stderr, /--limit must be/);
  });

  test('old calls are archived, and archives are read again', async () => {
    assert.equal((await change('archive run')).stdout, 'nothing was archived\n');
    assert.equal((await both('archive verify')).stdout, 'there are no archives\n');
    assert.match((await both('archive verify calls-2020-01', 1)).stderr, /there is no archive "calls-2020-01"/);
    assert.match((await change('archive run --url -', 1)).stderr, /--url goes without --remote/);
    assert.equal(await reads('archive list --json'), '[]\n');
  });

  test('a call has the same receipt', async () => {
    const answer = await fetch(`${weir.gatewayUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': weir.apiKey, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] }),
    });
    const id = answer.headers.get('x-weir-request-id') ?? '';
    await answer.arrayBuffer();
    const deadlineMs = Date.now() + 10_000;
    while ((await onThisMachine(`receipt ${id}`)).code !== 0 && Date.now() < deadlineMs);
    assert.match(await reads(`receipt ${id} --json`), new RegExp(id));
    while ((await onThisMachine('calls list --json')).stdout === '[]\n' && Date.now() < deadlineMs);
    assert.match(
      await reads('calls list --model claude-sonnet-4-5 --end finished --since 1h'),
      /^CALL .*\n.* +claude-sonnet-4-5 +simulated-anthropic +finished /,
    );
    assert.match((await both('calls export jsonl --user admin')).stdout, new RegExp(`^\\{"call_id":"${id}"`));
    assert.equal((await both('calls export csv --user nobody')).stdout.split('\r\n').length, 2);
    assert.match((await both('calls export xlsx', 1)).stderr, /a workbook needs --output/);
    assert.match((await both('calls list --end never', 1)).stderr, /end/);
    assert.match((await both('receipt req_none', 1)).stderr, /the ledger has no call "req_none"; .* weir refusals --request req_none/);
  });

  // As docs/guide/routing.md shows them.
  test('models are listed, explained and tested', async () => {
    assert.match(await reads('models list'), /claude-sonnet-4-5 +simulated-anthropic\/claude-sonnet-4-5 +1:100%/);
    assert.match((await change('models list --upstream simulated-openai --json')).stdout, /"name": "gpt-5-mini"/);
    assert.match((await change('models show gpt-5-mini')).stdout, /"last_day"/);
    assert.match((await change('models show gpt-5-mini')).stdout, /"tools": \[\s+\{\s+"tool": "web-search",\s+"run_by": "vendor"/);
    assert.match((await change('models show nobody', 1)).stderr, /no running gateway has a model "nobody"/);
    await change('keys create --user mona-% --name probe');
    const explained = await reads('models explain gpt-5-mini --as anthropic-messages --stream --tools --key mona-distant/probe');
    assert.match(
      explained,
      /^POST \/v1\/messages, seen by \S+\nORDER [^]*1 +simulated-openai\/gpt-5-mini +healthy .* translated [^]*cost: 0 to 0\.\d+ USD/,
    );
    assert.match((await change('models explain gpt-5-mini --user nobody', 1)).stderr, /there is no user "nobody"/);
    assert.match((await change('models explain gpt-5-mini --as telepathy', 1)).stderr, /--as must be one of openai-chat, /);
    const tested = await change('models test gpt-5-mini --key mona-%/probe --as openai-chat openai-responses');
    assert.match(tested.stdout, /openai-chat +passed +simulated-openai\/gpt-5-mini +\d+ +\d+ +0\.\d+ +req_[^]*openai-responses +passed/);
    await change('keys update mona-%/probe --models none-such');
    assert.match((await change('models test gpt-5-mini --key mona-%/probe --json', 1)).stdout, /"verdict": "refused"/);
  });

  test('usage is the same: as a table, as records, by groups, without prices and disputed; a decision is booked by a gateway', async () => {
    const made: string[] = [];
    for (let calls = 0; calls < 2; calls += 1) {
      const answer = await fetch(`${weir.gatewayUrl}/v1/messages`, {
        method: 'POST',
        headers: {
          'x-api-key': weir.apiKey,
          'anthropic-version': '2023-06-01',
          'content-type': 'application/json',
          'x-simulator-usage': '{"output_tokens":1000000000}',
          'x-simulator-output-tokens': '12',
        },
        body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }),
      });
      assert.equal(answer.status, 200, await answer.text());
      made.push(answer.headers.get('x-weir-request-id') ?? '');
    }
    const deadlineMs = Date.now() + 10_000;
    const listDisputed = async () => JSON.parse((await onThisMachine('usage --disputed --json')).stdout) as object[];
    while ((await listDisputed()).length < 2 && Date.now() < deadlineMs);
    const day = (distance: number): string => new Date(Date.now() + distance * 86_400_000).toISOString().slice(0, 10);
    const span = `--from ${day(-1)} --to ${day(2)}`;
    assert.match(await reads(`usage ${span} --by hour`), /usage by hour, .* UTC[^]*admin +\S+ +claude-sonnet-4-5/);
    assert.match(await reads(`usage ${span} --model claude-sonnet-4-5 --json`), /"totalAmount": 0\.\d+\n/);
    assert.match(await reads(`usage ${span} --user admin --csv`), /^time,timeGroup,userName,[^]*claude-sonnet-4-5/);
    assert.match(await reads(`usage ${span} --group-by user,model`), /^USER +MODEL +CALLS[^]*^TOTAL/m);
    assert.match(await reads(`usage ${span} --group-by key --by day --json`), /"key_user": "admin"/);
    assert.match(await reads(`usage ${span} --unpriced`), /^no calls without a price/);
    assert.match((await both(`usage --disputed --user nobody`, 1)).stderr, /there is no user "nobody"/);
    assert.match((await both('usage --from yesterday', 1)).stderr, /--from must be a date/);
    const [first = '', second = ''] = made;
    assert.match(
      (await onThisMachine(`usage accept ${first} --note right`)).stderr,
      /: accepted; the charge was 0\.\d+ USD, and is now 15000\./,
    );
    const corrected = await change(`usage correct ${second} output_tokens=20`);
    assert.match(corrected.stderr, /: corrected; the charge was 0\.\d+ USD, and is now 0\.\d+ USD\n$/);
    assert.match((await change(`usage correct ${second} output_tokens=30`, 1)).stderr, /was settled before; nothing was booked/);
    assert.match((await both('usage accept req_none', 1)).stderr, /there is no row "req_none"/);
    assert.match((await both(`usage correct ${first} tokens=3`, 1)).stderr, /"tokens=3" is not a count/);
    assert.match(await reads('usage --disputed --all'), /corrected by token:remote[^]*accepted by \w+\n$/);
    assert.match(
      await reads('audit list --action disputes.settle --limit 5'),
      /token:remote +api +disputes\.settle[^]*cli:\w+ +cli +disputes\.settle/,
    );
  });

  test('gateways are listed, and a target is taken out of use and put back', async () => {
    assert.match(await reads('nodes'), /running +\S+ +start .* 0 +0 +\d+ +\d+ % +\w{12}\n$/);
    assert.match((await change('nodes --json')).stdout, /"memory_share": 0\.\d+/);
    assert.match(await reads('upstreams list'), /simulated-anthropic +\S+ .*127\.0\.0\.1/);
    await reads('upstreams list --json');
    assert.match(await reads('upstreams show simulated-anthropic'), /"path": "upstreams.simulated-anthropic.apiKey"[^]*"ends_in"/);
    assert.match((await both('upstreams show nobody', 1)).stderr, /no running gateway has an upstream "nobody"/);
    assert.match(await reads('upstreams history simulated-anthropic --hours 2'), /^HOUR +CALLS +FAILED[^]*\n\d{4}-\S+ +\d+ +\d+ +\d+ /);
    await reads('upstreams history simulated-anthropic --hours 2 --json');
    const target = 'simulated-anthropic/claude-sonnet-4-5';
    assert.match((await change(`targets out ${target} --until 1h --reason maintenance`)).stderr, /gets no calls until \d{4}-/);
    assert.match(await reads('targets list --out'), /^TARGET.*\n\S+sonnet-4-5 .* token:remote +maintenance\n$/);
    await reads('targets list --upstream simulated-openai --json');
    assert.match((await both(`targets out ${target} --until 90d --reason long`, 1)).stderr, /within 30 days/);
    assert.match(
      (await both('targets out nobody/x --until 1h --reason why', 1)).stderr,
      /no running gateway has an upstream for "nobody\/x"/,
    );
    await change(`targets clear ${target}`);
    assert.match((await both(`targets clear ${target}`, 1)).stderr, /is not out of use/);
  });

  test('a gateway checks its upstreams for a command elsewhere', async () => {
    const checked = await both('upstreams check simulated-openai --no-calls --timeout 5');
    assert.match(checked.stdout, /Gateways\n.* runs with its present configuration[^]*simulated-openai[^]*Healthy: /);
    assert.match(
      (await change('doctor --no-calls --upstream simulated-openai --json')).stdout,
      /"healthy": true,[^]*"upstream": "simulated-openai"/,
    );
    assert.match((await both('upstreams check nobody', 1)).stderr, /there is no upstream "nobody"; there are: /);
    const listed = await reads('operations list --kind upstreams.check --state done');
    assert.match(listed, /upstreams\.check +done +token:remote [^]*upstreams\.check +done +cli:/);
    const id = /^op_\w+/m.exec(listed)?.[0] ?? '';
    assert.match(await reads(`operations show ${id}`), /"is_healthy": true/);
    assert.match((await both('operations show op_none', 1)).stderr, /there is no operation "op_none"/);
    assert.match((await change(`operations cancel ${id}`, 1)).stderr, /ended already: it is done/);
  });

  test('a video is listed, shown, downloaded and deleted, and its callback is sent again', async () => {
    const answer = await fetch(`${weir.gatewayUrl}/v1/video/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json', 'x-simulator-video': 'ms=200' },
      body: JSON.stringify({ model: 'vendor-imagine-video', prompt: 'a zebra', duration: 1, callback_url: 'http://127.0.0.1:1/' }),
    });
    const { id } = (await answer.json()) as { readonly id: string };
    const deadlineMs = Date.now() + 60_000;
    while (!(await onThisMachine(`videos show ${id}`)).stdout.includes('completed') && Date.now() < deadlineMs) await delay(200);
    assert.match(await reads('videos list --phase completed --limit 1'), /vendor-imagine-video +simulated-xai +completed +0\.\d+ +-\n$/);
    assert.match(await reads(`videos show ${id} --json`), /"phase": "completed"/);
    await reads(`videos show ${id}`);
    assert.match(await reads('videos storage admin'), /^USER +BYTES\nadmin +[1-9]\d+\n$/);
    await reads('videos storage admin --json');
    const [here, there] = ['here', 'there'].map((name) => join(away, `${name}.mp4`));
    assert.match((await onThisMachine(`videos download ${id} ${here}`)).stderr, /^wrote /);
    await change(`videos download ${id} ${there}`);
    assert.deepEqual(readFileSync(String(here)), readFileSync(String(there)));
    assert.match((await both(`videos download ${id} ${here}`, 1)).stderr, /exists already/);
    assert.match((await both(`videos download video_none ${here}`, 1)).stderr, /no video "video_none", or no file/);
    const events = await reads('callbacks list admin');
    const event = /^msg_\w+/m.exec(events)?.[0] ?? '';
    assert.match((await change(`callbacks send-again admin ${event}`)).stderr, /will be sent again/);
    assert.match((await both('callbacks send-again admin msg_none', 1)).stderr, /there is no event "msg_none" of admin/);
    assert.match((await both('callbacks list nobody', 1)).stderr, /there is no user "nobody"/);
    const secret = await change('callbacks secret admin --rotate');
    assert.match(secret.stdout, /^whsec_/);
    assert.equal((await onThisMachine('callbacks secret admin')).stdout, secret.stdout);
    assert.equal((await change('callbacks secret admin')).stdout, secret.stdout);
    assert.match(await reads('audit list --action callback_secrets.read'), /cli +callback_secrets\.read[^]*|api +callback_secrets\.read/);
    await change(`videos delete ${id}`);
    assert.match((await both(`videos show ${id}`, 1)).stderr, /there is no video/);
  });

  test('content, captures and alerts are read, and a channel is tested by a gateway', async () => {
    await change('teams create film-%');
    assert.match((await change('content set full --team film-%')).stderr, /limits this to masked/);
    assert.match(await reads('content list'), /^ceiling: masked\n[^]*team +film-distant +full +masked/);
    await reads('content list --json');
    assert.match((await both('captures show req_none', 1)).stderr, /there is no captured call/);
    const withoutConfig = await runCommand(['captures', 'show', 'req_none'], { WEIR_DATA_DIR: weir.dataDirectory });
    assert.match(withoutConfig.stderr, /does not let operators read content/);
    await reads('alerts list');
    await reads('alerts list --resolved --json');
    await reads('alerts messages --all --json');
    assert.match((await both('alerts test nobody', 1)).stdout, /^nobody: failed: /);
    assert.match((await both('alerts test somebody', 1)).stderr, /there is no channel "somebody"; there are nobody/);
  });

  test('the configuration is shown, checked and read again, and gateways that cannot use it are named', async () => {
    assert.match(await reads('config show'), /console.readContent +true +file, line 2 +a restart/);
    assert.match((await change('config show --json')).stdout, /"path": "content.ceiling"/);
    assert.match((await change('config show --node none', 1)).stderr, /no gateway "none" runs/);
    assert.match((await change('config layer 7', 1)).stderr, /there is no layer 7/);
    const file = join(weir.dataDirectory, 'weir.yaml');
    const checkThere = (path: string) => onAnother('config check', { WEIR_CONFIG: path });
    assert.match((await checkThere(file)).stdout, /The configuration is good for that console/);
    const bad = join(away, 'bad.yaml');
    writeFileSync(bad, 'limits:\n  bodyBytesMax: many\n');
    const refused = await checkThere(bad);
    assert.deepEqual([refused.code, refused.stderr.startsWith(`${bad}:2:17 `)], [1, true], refused.stderr);
    assert.match((await checkThere('')).stderr, /there is no configuration file here/);
    assert.match(await reads('config reload'), /^GATEWAY +HAS READ ITS FILE +FILE IN FORCE\n\S+ +yes +yes\n$/);
    assert.match(await reads('config problems'), /^\w{12}: \S+\n$/);
    writeFileSync(file, 'limits: 7\n');
    assert.match((await change('config reload', 1)).stdout, /yes +no\n$/);
    assert.match((await change('config problems --json', 1)).stdout, /"detail": "[^"]*limits/);
    writeFileSync(file, config);
    assert.match((await change('config reload')).stdout, /^GATEWAY[^]*yes +yes/);
  });

  test('what users have stored is listed, shown, read by those who may, and deleted', async () => {
    const headers = { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' };
    const send = async (path: string, body: object) => {
      const answer = await fetch(`${weir.gatewayUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      assert.ok(answer.ok, await answer.clone().text());
      return (await answer.json()) as { readonly id: string };
    };
    const conversation = await send('/v1/conversations', { items: [{ type: 'message', role: 'user', content: 'Remember the weir' }] });
    const response = await send('/v1/responses', { model: 'gpt-5-mini', input: 'Hello', conversation: conversation.id });
    const vectorStore = await send('/v1/vector_stores', { name: 'notes' });
    const form = new FormData();
    form.append('purpose', 'user_data');
    form.append('file', new Blob(['the text of a note'], { type: 'text/plain' }), 'note.txt');
    const uploaded = await fetch(`${weir.gatewayUrl}/v1/files`, {
      method: 'POST',
      headers: { authorization: headers.authorization },
      body: form,
    });
    const file = (await uploaded.json()) as { readonly id: string };
    assert.match(
      (await change(`stored responses list --conversation ${conversation.id}`)).stdout,
      new RegExp(`^ID[^]*${response.id} .* admin +completed`),
    );
    assert.match((await change('stored conversations list --user admin')).stdout, new RegExp(conversation.id));
    assert.match((await change('stored files list')).stdout, new RegExp(`${file.id} .* user_data +text/plain +18 `));
    assert.match((await change('stored vector-stores list --json')).stdout, new RegExp(vectorStore.id));
    assert.match((await change(`stored files list --vector-store ${vectorStore.id}`)).stdout, /^ID[^\n]*\n$/);
    for (const [kind, { id }] of [
      ['responses', response],
      ['conversations', conversation],
      ['files', file],
      ['vector-stores', vectorStore],
    ] as const) {
      assert.match((await change(`stored ${kind} show ${id}`)).stdout, new RegExp(`"id": "${id}"`));
      assert.match((await change(`stored ${kind} show none`, 1)).stderr, new RegExp(`weir stored ${kind} list shows them`));
    }
    assert.match((await change(`stored conversations download ${conversation.id} -`)).stdout, /Remember the weir/);
    assert.match((await change(`stored responses download ${response.id} -`)).stdout, /Hello/);
    assert.equal((await change(`stored files download ${file.id} -`)).stdout, 'the text of a note');
    const denied = await runCommand(['stored', 'files', 'download', file.id, '-'], { WEIR_DATA_DIR: weir.dataDirectory });
    assert.match(denied.stderr, /does not let operators read content/);
    for (const [kind, { id }] of [
      ['responses', response],
      ['conversations', conversation],
      ['files', file],
    ] as const) {
      assert.match((await change(`stored ${kind} delete ${id}`)).stderr, new RegExp(`^deleted ${id}`));
      await change(`stored ${kind} delete ${id}`, 1);
    }
    assert.match((await onThisMachine(`stored vector-stores delete ${vectorStore.id}`)).stderr, /^deleted /);
    assert.equal((await fetch(`${weir.gatewayUrl}/v1/vector_stores/${vectorStore.id}`, { headers })).status, 404);
  });

  test('prices are listed, compared, tried over booked calls, published and explained', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const file = join(away, 'prices.json');
    const entry = {
      vendor: 'openai',
      model: 'gpt-remote',
      displayName: 'Remote',
      effectiveFrom: today,
      checked: today,
      source: 'https://vendor.example/prices',
      tiers: [{ inputAbove: 0, prices: { input: '1', output: '2' } }],
    };
    writeFileSync(file, JSON.stringify({ version: 'remote', currency: 'USD', entries: [entry] }));
    assert.match((await both('prices history')).stdout, /^No price book is published/);
    assert.match((await both(`prices diff ${file}`)).stdout, /openai\/gpt-remote/);
    assert.match((await both(`prices stage ${file} --days 2 --by model`)).stdout, /^calls of the last 2 days as booked[^]*TOTAL/i);
    assert.match((await both(`prices publish ${file} --from 2020-01-01`, 1)).stderr, /is in the past/);
    const published = await change(`prices publish ${file} --from ${today} --note remote`);
    assert.match(published.stdout, /^published as book 1 \(\w{12}\): 1 models have new prices from /);
    const version = /the prices are (\S+)\n$/.exec(published.stdout)?.[1] ?? '';
    assert.match(await reads('prices history'), /remote +override .* token:remote +\w+ +remote\n$/);
    await reads('prices history --json');
    assert.match(await reads('prices list --model gpt-remote'), /openai +gpt-remote .* 1 +2 .*store-1\n$/);
    await reads('prices list --vendor anthropic --json');
    for (const book of ['', ' shipped', ' 1']) await reads(`prices export${book}`);
    assert.match((await both('prices export 9', 1)).stderr, /the store has no price book 9/);
    assert.match((await both('prices export a+b', 1)).stderr, /the store has no prices of version a\+b/);
    // A version is recorded when a gateway has the book in force.
    const deadlineMs = Date.now() + 20_000;
    while ((await onThisMachine(`prices version ${version}`)).code !== 0 && Date.now() < deadlineMs) await delay(200);
    assert.match(await reads(`prices version ${version}`), /matches its prices[^]*published +1 +remote/);
    await reads(`prices version ${version} --json`);
    assert.match((await both('prices version a+b', 1)).stderr, /no prices of version a\+b/);
    writeFileSync(file, JSON.stringify({ version: 'remote', currency: 'USD', entries: [{ ...entry, tiers: [] }] }));
    assert.match((await both(`prices publish ${file} --from ${today}`, 1)).stderr, /tiers/);
    assert.match((await change(`prices publish ${file} --from ${today} --output x`, 1)).stderr, /./);
  });

  test('no address, no token, a wrong token, plain http and a console that is away are named', async () => {
    const without = { WEIR_ADMIN_TOKEN: '' };
    assert.match((await onAnother('people list', without)).stderr, /there is no token for .*WEIR_ADMIN_TOKEN/);
    assert.match((await onAnother('people list', { WEIR_ADMIN_TOKEN: 'at-weir-wrong' })).stderr, /The admin token is not valid/);
    const run = (...words: string[]) => runCommand(words, { XDG_CONFIG_HOME: away, WEIR_ADMIN_TOKEN: token });
    assert.match(
      (await run('people', 'list', '--remote')).stderr,
      /--remote needs the address of the console for which WEIR_ADMIN_TOKEN is/,
    );
    assert.match((await run('people', 'delete', '--remote', 'pia')).stderr, /missing required argument 'person'/);
    assert.match((await run('people', 'list', '--remote', 'http://10.0.0.5:8082')).stderr, /must be an https address/);
    assert.match((await run('people', 'list', '--remote', 'http://127.0.0.1:1')).stderr, /does not answer/);
  });

  test('a key of another gateway opens this one after an import, here and remotely, but its digest does not', async () => {
    const secrets = ['sk-other-gateway-1', 'sk-other-gateway-2'];
    const digests = secrets.map((secret) => createHash('sha256').update(secret).digest('hex'));
    for (const [index, place] of [[], ['--remote', weir.consoleUrl]].entries()) {
      const folder = mkdtempSync(join(away, 'import-'));
      const [config, accounts] = [join(folder, 'config.yaml'), join(folder, 'accounts.json')];
      writeFileSync(config, 'model_list: [{ model_name: a, litellm_params: { model: openai/a, api_key: k } }]');
      const keys = [{ token: digests[index], key_name: 'sk-...ay-1', key_alias: 'moved', user_id: `mover-${index}` }];
      writeFileSync(
        accounts,
        JSON.stringify({
          keys: [...keys, { token: `${index}`.repeat(64), key_alias: 'closed', user_id: `mover-${index}`, blocked: true }],
        }),
      );
      const command = ['import', 'litellm', config, '--accounts', accounts, '--apply', ...place];
      const environment = place.length > 0 ? { WEIR_DATA_DIR: away, WEIR_ADMIN_TOKEN: token } : { WEIR_DATA_DIR: weir.dataDirectory };
      const first = await runCommand(command, environment);
      assert.match(first.stdout, /made 3 of 3 teams, users and keys/, first.stderr);
      assert.match((await runCommand(command, environment)).stdout, /made 0 of 3[^]*key mover-\d\/moved exists: This secret already opens/);
      const ask = async (key: string) => await fetch(`${weir.gatewayUrl}/v1/models`, { headers: { 'x-api-key': key } });
      const opened = async () => (await ask(secrets[index] ?? '')).status;
      for (let tries = 0; tries < 50 && (await opened()) !== 200; tries += 1) await delay(100);
      assert.equal(await opened(), 200);
      assert.equal((await ask(digests[index] ?? '')).status, 401);
      const list = JSON.parse((await onThisMachine(`keys list --user mover-${index} --json`)).stdout) as { name: string; state: string }[];
      assert.deepEqual(list.map(({ name, state }) => `${name} ${state}`).toSorted(), ['closed disabled', 'moved active']);
    }
  });
});
