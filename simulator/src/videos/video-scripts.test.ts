import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { isRecord } from '../read-json.ts';
import type { JsonRecord } from '../simulated-vendor.ts';
import { openBench, readObject, type VideoBench, type VideoVendor } from './video-client.ts';

/** The place of an error and of an unknown status in each interface. */
const vendors: readonly { readonly vendor: VideoVendor; readonly words: Readonly<Record<string, string>> }[] = [
  { vendor: 'xai', words: { working: 'pending', done: 'done', failed: 'failed' } },
  { vendor: 'openai', words: { working: 'in_progress', done: 'completed', failed: 'failed' } },
  { vendor: 'gateway', words: { working: 'in_progress', done: 'completed', failed: 'failed' } },
];

for (const { vendor, words } of vendors) {
  describe(`video jobs of ${vendor}`, () => {
    let bench: VideoBench;
    before(async () => {
      bench = await openBench(vendor);
    });
    beforeEach(() => bench.simulator.reset());
    after(() => bench.simulator.close());

    const poll = (id: string): Promise<Response> => bench.get(`/videos/${id}`);
    const ask = async (id: string): Promise<JsonRecord> => await readObject(await poll(id));

    test('a job that never ends is pending at any time', async () => {
      const id = await bench.submit('end=never');
      bench.pass(86_400_000);
      const { status, progress } = await ask(id);
      assert.deepEqual([status, progress], [words['working'], 99]);
    });

    test('an unknown status value replaces the true status while the job works', async () => {
      const id = await bench.submit('word=simmering');
      assert.equal((await ask(id))['status'], 'simmering');
      bench.pass(1000);
      assert.equal((await ask(id))['status'], words['done']);
    });

    test('progress falls, is missing or is a string if requested', async () => {
      const seen: unknown[][] = [];
      for (const how of ['back', 'absent', 'text']) {
        const id = await bench.submit(`progress=${how}`);
        bench.pass(800);
        seen.push([(await ask(id))['progress'], (await ask(id))['progress']]);
      }
      assert.deepEqual(seen, [
        [80, 40],
        [undefined, undefined],
        ['80%', '80%'],
      ]);
    });

    test('a failure has the requested code and message', async () => {
      const id = await bench.submit('end=failed;code=busy;message=Too many videos.');
      bench.pass(1000);
      const { status, error } = await ask(id);
      assert.deepEqual([status, error], [words['failed'], { code: 'busy', message: 'Too many videos.' }]);
    });

    test('a job changes its result after its end was reported', async () => {
      for (const [end, turn] of [
        ['failed', 'done'],
        ['done', 'failed'],
      ] as const) {
        const id = await bench.submit(`end=${end};turn=${turn}`);
        bench.pass(1000);
        assert.deepEqual([(await ask(id))['status'], (await ask(id))['status']], [words[end], words[turn]]);
      }
    });

    test('a moderated and an expired job return no file', async () => {
      for (const end of ['moderated', 'expired']) {
        const id = await bench.submit(`end=${end}`);
        bench.pass(1000);
        const told = await ask(id);
        const video = isRecord(told['video']) ? told['video'] : undefined;
        if (vendor === 'xai' && end === 'moderated') assert.deepEqual([video?.['url'], video?.['respect_moderation']], ['', false]);
        else assert.equal(told['status'], vendor === 'xai' ? 'expired' : 'failed');
        assert.ok(!JSON.stringify(told).includes('.mp4'));
        assert.equal((await bench.get(vendor === 'xai' ? `/../simulated-videos/${id}.mp4` : `/videos/${id}/content`)).status, 404);
      }
    });

    for (const status of [404, 429, 500, 503]) {
      test(`polls are answered with ${status} as often as requested`, async () => {
        const id = await bench.submit(`poll=${status};poll-times=2`);
        bench.pass(1000);
        const statuses = [await poll(id), await poll(id), await poll(id)].map((reply) => reply.status);
        assert.deepEqual(statuses, [status, status, 200]);
      });
    }

    test('polls are answered with an empty body, with a page, or not at all', async () => {
      assert.equal(await (await poll(await bench.submit('poll=empty'))).text(), '');
      assert.match(await (await poll(await bench.submit('poll=html'))).text(), /<html>/);
      const reset = await bench.submit('poll=reset');
      await assert.rejects(poll(reset));
    });

    for (const [script, note] of [
      ['accept=cut', 'is cut off'],
      ['accept=500', 'is an error'],
      ['accept=empty', 'is empty'],
    ] as const) {
      test(`a job continues whose acceptance ${note}`, async () => {
        const id = await bench.submit(script);
        assert.equal(bench.simulator.videos().length, 1);
        bench.pass(1000);
        assert.equal((await ask(id))['status'], words['done']);
      });
    }

    test('a job is accepted long before the answer', async () => {
      const submission = bench.submit('accept-ms=200');
      for (let tries = 0; bench.simulator.videos().length === 0 && tries < 2000; tries++)
        await new Promise((resolve) => setTimeout(resolve, 1));
      assert.equal(bench.simulator.videos().length, 1);
      await submission;
    });

    test('a directive in the prompt has the same effect and is not drawn, and its faults leave no job', async () => {
      const id = await bench.submit('', { prompt: 'A cat. [[simulator video=end=failed;code=x]]' });
      bench.pass(1000);
      assert.equal((await ask(id))['status'], words['failed']);
      bench.simulator.reset();
      await bench.submit('', { prompt: 'A cat. [[simulator fault=status;status=503]]' });
      assert.deepEqual(bench.simulator.videos(), []);
    });

    test('an invalid script is refused', async () => {
      for (const script of ['end=soon', 'ms=-1', 'pol=404', 'poll=200', 'content=odd']) await bench.submit(script);
      assert.deepEqual(bench.simulator.videos(), []);
    });
  });
}
