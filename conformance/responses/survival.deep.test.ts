import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';
import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { saying } from '../sdk/steer.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';

/** The next turn has the earlier ones, whatever happened to the process between them. */
describe('stored responses outlive the process', () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-responses-'));
  let simulator: RunningSimulator;
  let config: string;
  before(async () => {
    simulator = await startSimulator();
    config = JSON.stringify({
      upstreams: {
        anthropic: { vendor: 'anthropic', baseUrl: simulator.addresses.anthropic, apiKey: 'sk-1', forwardHeaders: ['x-simulator-*'] },
      },
      models: { m: { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] } },
      overload: neverOverloaded,
      timeouts: { drainDelayMs: 0, connectMs: 60_000 },
    });
  });
  after(async () => {
    await simulator.close();
    // Workers whose primary was killed may live a moment longer, and write.
    rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20 });
  });
  const connect = (weir: RunningWeir): OpenAI => new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 });

  test('kill -9 at the moment the last event has arrived: the conversation continues', async () => {
    let previous: string | undefined;
    for (let life = 0; life < 4; life++) {
      const weir = await startWeir({ config, dataDirectory });
      const body = { model: 'm', input: `Turn ${life}.`, ...(previous === undefined ? {} : { previous_response_id: previous }) };
      const steering = saying(`Reply ${life}.`, { tag: `life-${life}` });
      if (life % 2 === 0) previous = (await connect(weir).responses.create(body, steering)).id;
      else {
        for await (const event of await connect(weir).responses.create({ ...body, stream: true }, steering)) {
          if (event.type === 'response.completed') previous = event.response.id;
        }
      }
      await weir.stop('SIGKILL');
      const sent = JSON.stringify(simulator.records().find(({ tag }) => tag === `life-${life}`)?.requestBody);
      for (let earlier = 0; earlier < life; earlier++) assert.match(sent, new RegExp(`Turn ${earlier}\\..*Reply ${earlier}\\.`));
    }
  });

  test('several processes: a response can be continued at whichever process gets the next call', async () => {
    const weir = await startWeir({ config, dataDirectory, command: 'gateway', commandArguments: ['--workers', '2'] });
    try {
      let previous: string | undefined;
      for (let turn = 0; turn < 12; turn++) {
        // A new connection for each turn, so that the workers alternate.
        const client = new OpenAI({
          baseURL: `${weir.gatewayUrl}/v1`,
          apiKey: weir.apiKey,
          maxRetries: 0,
          defaultHeaders: { connection: 'close' },
        });
        const body = { model: 'm', input: `Step ${turn}.`, ...(previous === undefined ? {} : { previous_response_id: previous }) };
        previous = (await client.responses.create(body, saying(`Done ${turn}.`))).id;
      }
      const items = await connect(weir).responses.inputItems.list(previous ?? '', { order: 'asc', limit: 100 });
      assert.equal(items.data.length, 23);
    } finally {
      await weir.stop();
    }
  });
});
