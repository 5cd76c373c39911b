import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { openLedger } from '../support/read-ledger.ts';
import { eventually, post } from '../support/http.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';

/** A search service that answers when the test allows it. */
async function startSearch(onSearch: (response: ServerResponse) => void): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((_request, response) => onSearch(response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { server, url: `http://127.0.0.1:${address.port}` };
}

const results = JSON.stringify({ results: [{ url: 'https://example.org/cats', title: 'Cats', content: 'Cats eat fish.' }] });
const answerSearch = (response: ServerResponse): void => {
  response.setHeader('content-type', 'application/json');
  response.end(results);
};

/** A process that dies while it runs a call's tools has charged the finished parts once, and leaves nothing pending. */
describe('kill -9 in a tool loop', () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-tool-loop-'));
  let simulator: RunningSimulator;
  let search: Awaited<ReturnType<typeof startSearch>>;
  let onSearch = answerSearch;
  let config: string;
  before(async () => {
    simulator = await startSimulator();
    search = await startSearch((response) => onSearch(response));
    config = JSON.stringify({
      upstreams: {
        anthropic: { vendor: 'anthropic', baseUrl: simulator.addresses.anthropic, apiKey: 'sk-1', forwardHeaders: ['x-simulator-*'] },
      },
      overload: neverOverloaded,
      models: { m: { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] } },
      tools: {
        modes: { webSearch: 'gateway' },
        prices: { webSearch: '0.01' },
        webSearch: { provider: 'searxng', baseUrl: search.url, pagesMax: 0 },
      },
    });
  });
  after(async () => {
    search.server.closeAllConnections();
    search.server.close();
    await simulator.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  const start = (): Promise<RunningWeir> => startWeir({ config, dataDirectory });
  const ask = (weir: RunningWeir, tag: string) =>
    post(
      `${weir.gatewayUrl}/v1/responses`,
      { model: 'm', input: 'Search the web for cats', tools: [{ type: 'web_search' }] },
      { authorization: `Bearer ${weir.apiKey}`, 'x-simulator-tag': tag },
    );
  const requestsOf = (wanted: string): number => simulator.records().filter(({ tag }) => tag === wanted).length;

  /**
   * The rows from a number onwards, in the order of their ids, once the restarted program has settled the calls of the
   * dead one.
   */
  async function rowsAfterRestart(
    known: ReadonlySet<string>,
    settled: (rows: readonly CallEntry[]) => boolean,
  ): Promise<readonly CallEntry[]> {
    const weir = await start();
    const ledger = await openLedger(dataDirectory);
    try {
      const fresh = async (): Promise<readonly CallEntry[]> => (await ledger.all()).filter(({ callId }) => !known.has(callId));
      const rows = await eventually(fresh, settled);
      // It still works: the same call ends.
      onSearch = answerSearch;
      const reply = await ask(weir, 'after');
      assert.equal(reply.status, 200, reply.text);
      return rows.toSorted((first, second) => (first.callId < second.callId ? -1 : 1));
    } finally {
      await ledger.close();
      await weir.stop();
    }
  }

  const idsNow = async (): Promise<ReadonlySet<string>> => {
    const ledger = await openLedger(dataDirectory);
    const all = await ledger.all();
    await ledger.close();
    return new Set(all.map(({ callId }) => callId));
  };

  test('in the middle of a tool: the round before it is charged once, the tool is not', async () => {
    const searching = Promise.withResolvers<void>();
    onSearch = () => searching.resolve();
    const weir = await start();
    const lost = ask(weir, 'tool').catch(() => undefined);
    await searching.promise;
    // Entries are shipped to the store in the background: the journal has them in any case.
    await weir.stop('SIGKILL');
    await lost;
    const rows = await rowsAfterRestart(new Set(), (found) => found.length > 0);
    assert.deepEqual(
      rows.map(({ callId, end, parentCallId, toolUsage }) => [callId.includes('.'), end, parentCallId, toolUsage]),
      [[false, 'finished', undefined, undefined]],
    );
    assert.ok((rows[0]?.charge.amountNanoUsd ?? 0n) > 0n);
  });

  test('during the next call of the model: the finished round and the tools are charged once, the interrupted round is lost', async () => {
    const known = await idsNow();
    onSearch = (response) => {
      const faults = [{ fault: 'stall-before-headers', times: 1 }];
      fetch(`${simulator.controlUrl}/settings`, { method: 'POST', body: JSON.stringify({ faults }) }).then(
        () => answerSearch(response),
        () => response.destroy(),
      );
    };
    const weir = await start();
    const lost = ask(weir, 'round').catch(() => undefined);
    await eventually(
      () => Promise.resolve(requestsOf('round')),
      (count) => count === 2,
    );
    await weir.stop('SIGKILL');
    await lost;
    const rows = await rowsAfterRestart(known, (found) => found.length >= 3);
    const [first, tools, second] = rows;
    assert.deepEqual(
      [rows.length, first?.end, tools?.end, second?.end],
      [3, 'finished', 'finished', 'lost'],
      JSON.stringify(rows.map(({ callId, end }) => [callId, end])),
    );
    assert.deepEqual(tools?.toolUsage, { webSearches: 1 });
    assert.equal(tools?.charge.amountNanoUsd, 10_000_000n);
    assert.deepEqual([tools?.parentCallId, second?.parentCallId], [first?.callId, first?.callId]);
    const again = await rowsAfterRestart(known, (found) => found.length >= 3);
    for (const { callId } of rows) assert.equal(again.filter((row) => row.callId === callId).length, 1, callId);
  });
});
