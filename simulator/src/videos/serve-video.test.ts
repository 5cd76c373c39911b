import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { asText, isRecord } from '../read-json.ts';
import { openBench, readObject, type VideoBench } from './video-client.ts';

let bench: VideoBench;
before(async () => {
  bench = await openBench('xai');
});
beforeEach(() => bench.simulator.reset());
after(() => bench.simulator.close());

async function linkOf(script: string): Promise<string | undefined> {
  const id = await bench.submit(script, { duration: 1 });
  bench.pass(1000);
  const { video } = await readObject(await bench.get(`/videos/${id}`));
  return isRecord(video) && typeof video['url'] === 'string' ? video['url'] : undefined;
}

async function open(script: string): Promise<Response> {
  return await fetch((await linkOf(script)) ?? '', { redirect: 'manual' });
}

for (const [script, expected] of [
  ['link=inside', 'http://127.0.0.1:1/simulated.mp4'],
  ['link=metadata', 'http://169.254.169.254/latest/meta-data/'],
  ['link=ftp://files.example/a.mp4', 'ftp://files.example/a.mp4'],
  ['link=absent', undefined],
] as const) {
  test(`the address of the result is ${expected ?? 'absent'}`, async () => assert.equal(await linkOf(script), expected));
}

for (const [script, status, location] of [
  ['link=dead', 404, null],
  ['link-ms=0', 410, null],
  ['content=503', 503, null],
  ['link=redirect-inside', 302, 'http://169.254.169.254/latest/meta-data/'],
] as const) {
  test(`a file with ${script} is answered with ${status}`, async () => {
    const reply = await open(script);
    assert.deepEqual([reply.status, reply.headers.get('location')], [status, location]);
  });
}

test('a redirect leads to the file', async () => {
  const reply = await fetch((await linkOf('link=redirect')) ?? '');
  assert.deepEqual([reply.status, reply.redirected, reply.headers.get('content-type')], [200, true, 'video/mp4']);
});

test('a truncated file declares its whole length', async () => {
  const reply = await open('content=short');
  assert.ok(Number(reply.headers.get('content-length')) > 1000);
  await assert.rejects(reply.bytes());
});

test('a huge file is generated while it is read', async () => {
  const reply = await open('content=huge');
  assert.equal(reply.headers.get('content-length'), '5000000000');
  const reader = reply.body?.getReader();
  const before = process.memoryUsage.rss();
  let bytes = 0;
  while (bytes < 100_000_000) bytes += (await reader?.read())?.value?.length ?? Number.POSITIVE_INFINITY;
  await reader?.cancel();
  assert.ok(Number.isFinite(bytes) && process.memoryUsage.rss() - before < 1_000_000_000);
});

test('a file can be larger than its video and still be valid', async () => {
  const bytes = Buffer.from(await (await open('content=huge;content-bytes=2000000')).bytes());
  assert.equal(bytes.length, 2_000_000);
  const start = bytes.indexOf('free', bytes.indexOf('mdat')) - 4;
  assert.equal(bytes.readBigUInt64BE(start + 8), BigInt(bytes.length - start));
});

test('a slow file arrives in small pieces', async () => {
  const reader = (await open('content=slow;content-rate=1000')).body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  // Fifty bytes every twentieth of a second; a busy machine may join a few of them.
  assert.ok(first?.value && first.value.length % 50 === 0 && first.value.length < 10_000, `${first?.value?.length}`);
});

for (const [script, type, content] of [
  ['content=html', 'text/html', /^<html>/],
  ['content=garbage', 'video/mp4', /^These simulated bytes are no video/],
  ['content=empty', 'video/mp4', /^$/],
] as const) {
  test(`a file with ${script} is not a video`, async () => {
    const reply = await open(script);
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, type]);
    assert.match(await reply.text(), content);
  });
}

test('a false media type is declared, and a length is omitted', async () => {
  assert.equal((await open('content-type=application/octet-stream')).headers.get('content-type'), 'application/octet-stream');
  assert.equal((await open('content=no-length')).headers.get('content-length'), null);
});

test("the control server counts submissions, polls and downloads, and changes a job's behaviour", async () => {
  const control = bench.simulator.controlUrl;
  const id = await bench.submit('end=never');
  await bench.get(`/videos/${id}`);
  await bench.get(`/videos/${id}`, { authorization: 'Bearer other' });
  const changed = await fetch(`${control}/videos/${id}`, { method: 'POST', body: '{"video":"end=done;ms=0"}' });
  assert.equal(changed.status, 200);
  const { video } = await readObject(await bench.get(`/videos/${id}`));
  await (await fetch(isRecord(video) ? asText(video['url']) : '')).bytes();
  const [job] = (await (await fetch(`${control}/videos?prompt=A%20cat.&interface=xai-videos`)).json()) as Record<string, unknown>[];
  assert.deepEqual([job?.['submissions'], job?.['polls'], job?.['pollsByOthers'], job?.['downloads']], [1, 3, 1, 1]);
  assert.deepEqual(await (await fetch(`${control}/videos?prompt=other`)).json(), []);
  assert.equal((await fetch(`${control}/videos/none`)).status, 404);
  assert.equal((await fetch(`${control}/videos/${id}`, { method: 'POST', body: '{"video":"end=soon"}' })).status, 400);
});

test('settings apply to future jobs, and a reset reverts them', async () => {
  const settings = await fetch(`${bench.simulator.controlUrl}/settings`, { method: 'POST', body: '{"video":"ms=5;end=failed"}' });
  assert.deepEqual((await readObject(settings))['video'], { ms: 5, end: 'failed' });
  await bench.submit();
  assert.deepEqual(bench.simulator.videos()[0]?.['script'], { ms: 5, end: 'failed' });
  bench.simulator.reset();
  await bench.submit();
  assert.deepEqual(bench.simulator.videos()[0]?.['script'], { ms: 1000 });
});

test('each call is recorded, with its result and without its credential', async () => {
  await (await open('content=garbage')).bytes();
  const calls = bench.simulator.records();
  assert.deepEqual(
    calls.map((call) => [call.method, call.ending]),
    [
      ['POST', 'completed'],
      ['GET', 'completed'],
      ['GET', 'faulted'],
    ],
  );
  assert.ok(!JSON.stringify(calls).includes('sk-video'));
  assert.equal(calls[2]?.requestHeaders['authorization'], undefined);
});
