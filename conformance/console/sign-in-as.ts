import assert from 'node:assert/strict';

import type { ConsoleClient } from '../admin/console-client.ts';

/** Makes a person of a role, and a link that signs them in once. */
export async function linkFor(
  operator: ConsoleClient,
  name: string,
  role: 'viewer' | 'finance' | 'owner',
  users?: readonly string[],
): Promise<string> {
  const password = await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
  assert.equal(password.status, 204, password.text);
  const person = await operator.send('POST', '/api/v1/people', { name, role, ...(users !== undefined && { users }) });
  assert.equal(person.status, 201, person.text);
  const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
  return String(link.body['url']);
}
