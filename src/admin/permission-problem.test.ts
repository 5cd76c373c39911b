import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Principal } from '../accounts/people/principal.ts';
import { permissionProblem } from './permission-problem.ts';

const caller: Principal = { permissions: new Set(), users: 'all', author: { actor: 'x', via: 'api' } };

test('the refusal of a missing permission names it, and how its caller gets it', () => {
  const words = (principal: Principal): string => permissionProblem(principal, 'tokens:write').message;
  assert.match(words({ ...caller, sessionId: 's', personId: 'p' }), /permission tokens:write, which your role does not have: an operator/);
  assert.match(words({ ...caller, tokenId: 't' }), /which this token does not have: name it .*--permission tokens:write\)\.$/);
  assert.match(
    words({ ...caller, sessionId: 's', holder: { way: 'api_key', id: 'k' } }),
    /which a sign-in with this key or token does not have/,
  );
  assert.match(permissionProblem(caller, 'limits:write', 'Limits need').message, /^Limits need the permission limits:write/);
});
