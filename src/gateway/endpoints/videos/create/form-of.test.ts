import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formOf } from './read-creation.ts';
import { ownVideoId } from './video-source.ts';

test('the path decides the interface, and the content if two interfaces share the path', () => {
  assert.equal(formOf({ form: 'xai-videos' }, { image: 'x' }, false), 'xai-videos');
  assert.equal(formOf({ form: 'video-generations' }, { seconds: '4' }, true), 'video-generations');
  for (const [body, isMultipart, form] of [
    [{ prompt: 'x', seconds: '4' }, false, 'openai-videos'],
    [{ prompt: 'x' }, false, 'openai-videos'],
    [{ prompt: 'x', duration: 5 }, false, 'video-generations'],
    [{ prompt: 'x', image: 'data:' }, false, 'video-generations'],
    [{ prompt: 'x', images: [] }, false, 'video-generations'],
    [{ prompt: 'x', metadata: {} }, false, 'video-generations'],
    [{ prompt: 'x', metadata: {} }, true, 'openai-videos'],
  ] as const)
    assert.equal(formOf({ form: 'by-content' }, body, isMultipart), form, JSON.stringify(body));
});

test('only URLs of the gateway name one of its videos', () => {
  const base = 'https://weir.example';
  assert.equal(ownVideoId('https://weir.example/v1/videos/task_1/content', base), 'task_1');
  assert.equal(ownVideoId('https://weir.example/v1/videos/task_1/content?x=1', base), 'task_1');
  for (const other of [
    'http://weir.example/v1/videos/task_1/content',
    'https://weir.example:8443/v1/videos/task_1/content',
    'https://other.example/v1/videos/task_1/content',
    'https://weir.example/v1/videos/task_1',
    'https://weir.example/v1/videos/a/b/content',
    'https://weir.example/v1/videos/%2e%2e/content',
    'not an address',
  ])
    assert.equal(ownVideoId(other, base), undefined, other);
});
