import assert from 'node:assert/strict';
import { test } from 'node:test';

import { claudeGoogle } from './claude-google.ts';

test('the base address is that of the workspace, whatever part of it the operator writes', () => {
  const facts = { project: 'acme', workspace: 'wrkspc_1' };
  const expected = '/v1/projects/acme/locations/global/workspaces/wrkspc_1/invoke';
  for (const written of ['', '/', expected, `${expected}/v1`, expected.replace('/v1/', '/v1alpha/')])
    assert.equal(claudeGoogle.basePathOf?.(written, facts), expected, written);
  assert.equal(claudeGoogle.basePathOf?.('/proxy', facts), `/proxy${expected}`);
});

test('a project and a workspace are required', () => {
  assert.match(claudeGoogle.checkFacts?.({ workspace: 'w' }, undefined) ?? '', /project is required/);
  assert.match(claudeGoogle.checkFacts?.({ project: 'acme' }, undefined) ?? '', /workspace is required/);
});
