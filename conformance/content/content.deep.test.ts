import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { startSimulator, type RunningSimulator } from 'weir-simulator';

import { runCommand } from '../programs/run-command.ts';
import { eventually } from '../support/http.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import { removal, type RunningWeir, startWeir } from '../support/start-weir.ts';
import { chats, type LogCollector, readAll, readLines, startLogCollector } from './content-bench.ts';

const secrets = {
  email: 'ann.smith@secret-mail.example',
  card: '4111 1111 1111 1111',
  key: 'sk-proj-AbCdEfGhIjKlMnOpQrStuvwx1234',
  iban: 'DE89 3704 0044 0532 0130 00',
  phone: '+49 711 123-4567',
  ticket: 'TICK-99817',
};
const withSecrets = `Write to ${secrets.email}, card ${secrets.card}, key ${secrets.key}, ${secrets.iban}, call ${secrets.phone}, ${secrets.ticket}.`;
const masked = 'Write to [email], card [card], key [credential], [iban], call [phone], [ticket].';
const reply = `Done for ${secrets.email}. Simulated.`;

describe('prompts and replies are recorded by choice', () => {
  let simulator: RunningSimulator;
  let collector: LogCollector;
  let weir: RunningWeir;
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-content-'));
  const records = join(dataDirectory, 'records');
  const spool = join(dataDirectory, 'content');
  const keys: Record<string, string> = {};
  let printed = '';

  const command = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCommand(words, {
      WEIR_DATA_DIR: dataDirectory,
      WEIR_CONFIG: join(dataDirectory, 'weir.yaml'),
    });
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  const call = async (
    key: string,
    { path, body }: { readonly path: string; readonly body: object },
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> => {
    const response = await fetch(`${weir.gatewayUrl}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        authorization: `Bearer ${keys[key]}`,
        'x-simulator-text': encodeURIComponent(key === 'open' ? 'Simulated.' : reply),
        ...headers,
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return text;
  };
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${weir.metricsUrl}`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1) ?? 'NaN',
    );
  };
  const start = async (): Promise<void> => {
    const vendors = ['anthropic', 'openai', 'gemini'] as const;
    const config = {
      upstreams: Object.fromEntries(
        vendors.map((vendor) => [
          vendor,
          { vendor, baseUrl: simulator.addresses[vendor], apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] },
        ]),
      ),
      models: { 'claude-by-openai': { targets: [{ upstream: 'openai', model: 'gpt-5-mini' }] } },
      content: {
        ceiling: 'full',
        batchSeconds: 1,
        patterns: [{ name: 'ticket', expression: 'TICK-[0-9]{3,8}' }],
        sinks: { otel: { type: 'otlp', url: collector.url }, files: { type: 'folder', path: 'records' } },
      },
    };
    weir = await startWeir({
      command: 'gateway',
      config: JSON.stringify(config),
      dataDirectory,
      environment: { WEIR_METRICS_PORT: '0' },
    });
  };
  const eventsOf = (user: string) => collector.events.filter(({ attributes }) => attributes['weir.user'] === user);

  before(async () => {
    simulator = await startSimulator();
    collector = await startLogCollector();
    await start();
    for (const name of ['quiet', 'hidden', 'open', 'crew'])
      keys[name] = await command('keys', 'create', '--user', `content-${name}`, '--name', 'k');
    await command('content', 'set', 'masked', '--key', 'content-hidden/k');
    await command('content', 'set', 'full', '--key', 'content-open/k');
    await command('teams', 'create', 'content-team');
    await command('teams', 'add', 'content-team', 'content-crew');
    await command('content', 'set', 'masked', '--team', 'content-team');
    // The gateway reads keys that it does not know at once, and other changes within a second or two.
    await eventually(
      async () => {
        await call('crew', chats['openai-chat']('ready?', false));
        return await metric('weir_content_calls_total{result="spooled"}');
      },
      (spooled) => spooled > 0,
    );
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    await collector[Symbol.asyncDispose]();
    await simulator.close();
    rmSync(dataDirectory, removal);
  });

  for (const [dialect, ask] of Object.entries(chats)) {
    test(`${dialect}: question and assembled reply are the same, whole and streamed, in both sinks, and masked`, async () => {
      const known = eventsOf('content-hidden').length;
      for (const stream of [false, true]) await call('hidden', ask(withSecrets, stream));
      const events = await eventually(
        () => eventsOf('content-hidden').slice(known),
        ({ length }) => length >= 2,
      );
      for (const { eventName, attributes } of events) {
        assert.equal(eventName, 'gen_ai.client.inference.operation.details');
        assert.deepEqual(attributes['gen_ai.system_instructions'], [{ type: 'text', content: 'Answer in one word.' }]);
        assert.deepEqual(attributes['gen_ai.input.messages'], [{ role: 'user', parts: [{ type: 'text', content: masked }] }]);
        assert.deepEqual(attributes['gen_ai.output.messages'], [
          { role: 'assistant', parts: [{ type: 'text', content: 'Done for [email]. Simulated.' }], finish_reason: 'stop' },
        ]);
        assert.deepEqual(attributes['weir.content.masked'], { email: 2, card: 1, credential: 1, iban: 1, phone: 1, ticket: 1 });
        assert.ok(attributes['gen_ai.usage.output_tokens'] > 0);
      }
      assert.deepEqual(new Set(events.map(({ attributes }) => attributes['gen_ai.request.stream'])), new Set([false, true]));
      const ids = events.map(({ attributes }) => attributes['weir.call.id']);
      const lines = await eventually(
        () => readLines(records).filter(({ id }) => ids.includes(id)),
        ({ length }) => length >= 2,
      );
      for (const line of lines)
        assert.deepEqual([line.mode, line.user, line.input_messages[0].parts[0].content], ['masked', 'content-hidden', masked]);
    });
  }

  test('a translated stream is recorded as its client received it, with the tool call that it made, in full', async () => {
    const { body } = chats['anthropic-messages']('What is the weather?', true, 'claude-by-openai');
    const tools = [{ name: 'get_weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }];
    await call('open', { path: '/v1/messages', body: { ...body, tools } }, { 'x-simulator-tool-calls': '1' });
    const [event] = await eventually(
      () => eventsOf('content-open'),
      ({ length }) => length > 0,
    );
    const output = event?.attributes['gen_ai.output.messages'][0];
    assert.equal(output.finish_reason, 'tool_call');
    assert.equal(output.parts.find(({ type }: { type: string }) => type === 'tool_call').name, 'get_weather');
    assert.equal(event?.attributes['gen_ai.tool.definitions'][0].name, 'get_weather');
    assert.equal(event?.attributes['gen_ai.provider.name'], 'openai');
  });

  test('bytes are counted and hashed instead of recorded; embeddings have their texts', async () => {
    const data = Buffer.from('\x89PNG\r\n\x1a\n' + 'x'.repeat(3000), 'latin1').toString('base64');
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
    const content = [image, { type: 'text', text: 'What is this?' }];
    const { body } = chats['anthropic-messages']('', false);
    await call('open', { path: '/v1/messages', body: { ...body, messages: [{ role: 'user', content }] } });
    await call('open', { path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: ['first text', 'second text'] } });
    const events = await eventually(
      () => eventsOf('content-open').slice(1),
      ({ length }) => length >= 2,
    );
    const parts = events.flatMap(({ attributes }) => attributes['gen_ai.input.messages'][0].parts);
    const blob = parts.find(({ type }) => type === 'blob');
    assert.deepEqual([blob.mime_type, blob.bytes, blob.sha256.length], ['image/png', 3008, 64]);
    assert.ok(parts.some(({ content: text }) => text === 'second text'));
    assert.ok(!collector.text().includes(data.slice(0, 200)));
  });

  test('without a choice nothing of a call is anywhere', async () => {
    const phrase = 'a phrase that nobody may keep';
    await call('quiet', chats['openai-chat'](phrase, true));
    await call('open', chats['openai-chat']('a later call', true));
    await eventually(
      () => readAll(records).includes('a later call') && collector.text().includes('a later call'),
      (both) => both,
    );
    for (const [place, text] of Object.entries({
      spool: readAll(spool),
      records: readAll(records),
      otel: collector.text(),
      log: weir.output(),
    }))
      assert.ok(!text.includes(phrase), place);
  });

  test('a sink that is down delays no other, and kill -9 loses nothing that the spool has', async () => {
    collector.isDown = true;
    const spooled = await metric('weir_content_calls_total{result="spooled"}');
    await call('hidden', chats['openai-chat'](`kept over a crash, ${secrets.email}`, true));
    await eventually(
      () => metric('weir_content_calls_total{result="spooled"}'),
      (count) => count === spooled + 1,
    );
    printed += weir.output();
    await weir.stop('SIGKILL');
    assert.ok(!readAll(spool).includes('kept over a crash'), 'the spool is sealed');
    await start();
    await eventually(
      () => readAll(records).includes('kept over a crash'),
      (isThere) => isThere,
    );
    collector.isDown = false;
    await eventually(
      () => collector.text().includes('kept over a crash'),
      (isThere) => isThere,
    );
    await eventually(
      () => metric('weir_content_spool_bytes'),
      (bytes) => bytes === 0,
    );
  });

  test('erasure deletes what a user has in folders, and what waits is not sent', async () => {
    collector.isDown = true;
    await call('hidden', chats['openai-chat']('waits and is erased', false));
    await eventually(
      () => readAll(records).includes('waits and is erased'),
      (isThere) => isThere,
    );
    await command('content', 'erase', '--user', 'content-hidden');
    const left = await eventually(
      async () => JSON.parse(await command('content', 'erasures', '--json')),
      ([erasure]) => erasure.objects_left === 0,
    );
    assert.equal(left[0].user, 'content-hidden');
    assert.deepEqual(
      readLines(records).filter(({ user }) => user === 'content-hidden'),
      [],
    );
    assert.ok(readLines(records).some(({ user }) => user === 'content-open'));
    collector.isDown = false;
    await call('hidden', chats['openai-chat']('after the erasure', false));
    await eventually(
      () => collector.text().includes('after the erasure'),
      (isThere) => isThere,
    );
    assert.ok(!collector.text().includes('waits and is erased'));
    const audit = await command('audit', 'list', '--action', 'content.erase', '--json');
    assert.match(audit, /content:content-hidden/);
  });

  test('no masked value was ever in the spool, a sink or the log', () => {
    const places = { spool: readAll(spool), records: readAll(records), otel: collector.text(), log: printed + weir.output() };
    for (const [place, text] of Object.entries(places))
      for (const secret of [...Object.values(secrets), upstreamKey, ...Object.values(keys)])
        assert.ok(!text.includes(secret), `${secret} in ${place}`);
  });
});
