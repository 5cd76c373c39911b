import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hasFile, showBytes, sortByUrgency, type Video } from './video-words.ts';

const money = { nano_usd: '0', usd: '0' };
const video = (id: string, changed: Partial<Video> = {}): Video => ({
  id,
  call_id: 'req_1',
  user: 'ann',
  key_id: 'k',
  key: 'film',
  model: 'm',
  upstream: 'u',
  upstream_model: 'm',
  mode: 'text',
  phase: 'completed',
  progress: 100,
  created_at: `2026-11-27T10:00:0${id}.000Z`,
  ended_at: '2026-11-27T11:00:00.000Z',
  last_poll_at: null,
  held: money,
  charged: money,
  error: null,
  alert: null,
  duration_ms: 1000,
  file: null,
  ...changed,
});

test('alerts that are open come first, then what is being made, then the newest', () => {
  const alert = { since: '2026-11-27T10:30:00.000Z', reason: 'no answer' };
  const sorted = sortByUrgency([
    video('1'),
    video('2', { alert }),
    video('3', { ended_at: null, phase: 'queued' }),
    video('4', { ended_at: null, phase: 'in_progress', alert }),
  ]);
  assert.deepEqual(
    sorted.map(({ id }) => id),
    ['4', '3', '2', '1'],
  );
});

test('a file is there until it expires', () => {
  const file = { type: 'video/mp4', bytes: 10, sha256: 'a', expires_at: '2026-11-28T00:00:00.000Z' };
  assert.equal(hasFile(video('1', { file }), Date.parse('2026-11-27T23:59:59Z')), true);
  assert.equal(hasFile(video('1', { file }), Date.parse('2026-11-28T00:00:00Z')), false);
  assert.equal(hasFile(video('1', { file: { ...file, expires_at: null } }), Number.MAX_SAFE_INTEGER), true);
  assert.equal(hasFile(video('1'), 0), false);
});

test('bytes are shown with their unit', () => {
  const shown = [0, 1023, 1024, 1_468_006, 250 * 1024 ** 3].map((bytes) => showBytes(bytes).replace('\u202f', ' '));
  assert.deepEqual(shown, ['0 B', '1023 B', '1.0 KiB', '1.4 MiB', '250 GiB']);
});
