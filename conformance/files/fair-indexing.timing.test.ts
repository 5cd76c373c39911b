import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import OpenAI, { toFile } from 'openai';

import { eventually } from '../support/http.ts';
import { cleanEnvironment, program, type RunningWeir, startWeir } from '../support/start-weir.ts';

const run = promisify(execFile);
const searchableWithinMs = 2000;

describe('F96: indexing beside the files of others', () => {
  let weir: RunningWeir;
  const clientOf = (apiKey: string): OpenAI => new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey, maxRetries: 0 });
  before(async () => {
    weir = await startWeir();
  });
  after(() => weir[Symbol.asyncDispose]());

  for (const [name, page] of [
    ['2 MB of nested elements', `<!doctype html>${'<div>'.repeat(400_000)}`],
    ['2 MB of a million flat ones', `<!doctype html>${'<p>a<br>b</p>'.repeat(150_000)}`],
  ] as const)
    test(`${name} do not delay another tenant's tiny file: it is searchable within 2 s`, async () => {
      const hostile = clientOf(weir.apiKey);
      const { stdout } = await run(process.execPath, [program, 'keys', 'create', '--user', name.replaceAll(' ', '-'), '--name', 'key'], {
        env: cleanEnvironment({ WEIR_DATA_DIR: weir.dataDirectory }),
      });
      const other = clientOf(stdout.trim());
      const hostileStore = await hostile.vectorStores.create({ name: 'hostile' });
      const ownStore = await eventually(
        () => other.vectorStores.create({ name: 'own' }).catch(() => undefined),
        (made) => made !== undefined,
      );
      assert.ok(ownStore);
      for (let count = 0; count < 5; count += 1)
        await hostile.vectorStores.files.upload(hostileStore.id, await toFile(Buffer.from(page), `page-${count}.html`));
      const startedMs = performance.now();
      await other.vectorStores.files.upload(ownStore.id, await toFile(Buffer.from('a needle in words'), 'tiny.txt'));
      await eventually(
        () => other.vectorStores.search(ownStore.id, { query: 'needle' }),
        ({ data }) => data.length > 0,
      );
      const tookMs = performance.now() - startedMs;
      assert.ok(tookMs < searchableWithinMs, `searchable after ${Math.round(tookMs)} ms`);
    });
});
