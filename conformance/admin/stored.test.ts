import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, signInByLink } from './console-client.ts';

type Item = Readonly<Record<string, unknown>> & { readonly id: string; readonly user: string };

const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
/** Several pieces of a stored file. */
const large = Buffer.from(Array.from({ length: 2_500_000 }, (_, at) => 97 + (at % 26)));

describe('stored objects of the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let owner: ConsoleClient;
  const keys: Record<string, string> = {};
  const made: Record<string, string> = {};

  /** Sends a request of a user to the gateway; the id of the object that it made. */
  async function make(user: string, path: string, body: object | FormData): Promise<string> {
    const isForm = body instanceof FormData;
    const response = await fetch(`${weir.gatewayUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[user] ?? ''}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    const answer = (await response.json()) as { id: string };
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer.id;
  }
  const upload = async (user: string, name: string, content: Buffer | string): Promise<string> => {
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob([Buffer.from(content)]), name);
    return await make(user, '/v1/files', form);
  };

  before(async () => {
    const config = 'console: { readContent: true, ownersMakeKeys: true }\n';
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, config });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    for (const user of ['stored-vera', 'stored-walt'])
      keys[user] = String((await operator.send('POST', '/api/v1/keys', { user, name: 'app' })).body['secret']);
    const person = await operator.send('POST', '/api/v1/people', { name: 'Vera', role: 'owner', users: ['stored-vera'] });
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    owner = await signInByLink(weir.consoleUrl, String(link.body['url']));
    const ask = { model: 'gpt-5-mini', input: 'a secret zebra', store: true };
    made['first'] = await make('stored-vera', '/v1/responses', ask);
    made['second'] = await make('stored-vera', '/v1/responses', { ...ask, previous_response_id: made['first'] });
    made['foreign'] = await make('stored-walt', '/v1/responses', { ...ask, model: 'claude-sonnet-4-5' });
    const items = Array.from({ length: 20 }, (_, at) => ({ type: 'message', role: 'user', content: `zebra ${at}` }));
    made['conversation'] = await make('stored-vera', '/v1/conversations', { metadata: { topic: 'zebras' }, items });
    for (let round = 0; round < 9; round += 1)
      await make('stored-vera', `/v1/conversations/${made['conversation']}/items`, { items }).catch(() => undefined);
    made['svg'] = await upload('stored-vera', 'zebra.svg', script);
    made['text'] = await upload('stored-vera', 'zebra.txt', large);
    made['store'] = await make('stored-vera', '/v1/vector_stores', { name: 'zebra papers', file_ids: [made['svg']] });
  });
  after(() => weir[Symbol.asyncDispose]());

  const items = async (client: ConsoleClient, path: string): Promise<Item[]> => {
    const answer = await client.send('GET', `/api/v1${path}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body['items'] as Item[];
  };
  const idsOf = async (client: ConsoleClient, path: string) => (await items(client, path)).map(({ id }) => id);

  test('objects are listed newest first and page by page, to those who may see them, without their content', async () => {
    const all = await operator.send('GET', '/api/v1/responses');
    assert.doesNotMatch(all.text, /zebra/);
    assert.deepEqual(await idsOf(operator, '/responses'), [made['foreign'], made['second'], made['first']]);
    const page = await operator.send('GET', '/api/v1/responses?limit=2');
    assert.deepEqual(await idsOf(operator, `/responses?limit=2&cursor=${String(page.body['next_cursor'])}`), [made['first']]);
    const other = await operator.send('GET', `/api/v1/conversations?limit=2&cursor=${String(page.body['next_cursor'])}`);
    assert.deepEqual([other.status, other.body['code']], [400, 'cursor_mismatch']);
    assert.deepEqual(await idsOf(owner, '/responses'), [made['second'], made['first']]);
    assert.deepEqual(await idsOf(owner, '/responses?user=stored-walt'), []);
    assert.deepEqual(await idsOf(operator, `/responses?previous_response_id=${made['first'] ?? ''}`), [made['second']]);
    const one = await owner.send('GET', `/api/v1/responses/${made['second'] ?? ''}`);
    assert.deepEqual(
      [one.body['previous_response_id'], one.body['status'], one.body['followers'], one.headers.get('etag')],
      [made['first'], 'completed', 0, '"3"'],
    );
    for (const path of ['', '/content']) {
      assert.equal((await owner.send('GET', `/api/v1/responses/${made['foreign'] ?? ''}${path}`)).status, 404, path);
      for (const kind of ['responses', 'conversations', 'files'])
        assert.equal((await operator.send('GET', `/api/v1/${kind}/nothing${path}`)).status, 404, `${kind}${path}`);
    }
    const [conversation] = await items(operator, '/conversations');
    assert.deepEqual([conversation?.id, conversation?.['items']], [made['conversation'], 200]);
    assert.deepEqual(await idsOf(owner, '/files?purpose=assistants'), [made['text'], made['svg']]);
    assert.deepEqual(await idsOf(owner, `/files?vector_store_id=${made['store'] ?? ''}`), [made['svg']]);
    assert.equal((await owner.send('GET', `/api/v1/vector_stores/${made['store'] ?? ''}`)).body['name'], 'zebra papers');
  });

  test('names that users gave are shown only to those who may read content', async () => {
    const person = await operator.send('POST', '/api/v1/people', { name: 'Viewer', role: 'viewer' });
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    const viewer = await signInByLink(weir.consoleUrl, String(link.body['url']));
    for (const path of ['/files', '/vector_stores']) {
      const answer = await viewer.send('GET', `/api/v1${path}`);
      assert.equal(answer.status, 200, answer.text);
      assert.doesNotMatch(answer.text, /zebra/);
    }
    assert.equal((await viewer.send('GET', `/api/v1/files/${made['text'] ?? ''}/content`)).status, 403);
  });

  test('content is opened for those who may read it, as a file to be saved, and each reading is audited', async () => {
    const response = await owner.send('GET', `/api/v1/responses/${made['first'] ?? ''}/content`);
    assert.equal(response.status, 200, response.text);
    assert.equal(response.headers.get('content-disposition'), `attachment; filename="${made['first'] ?? ''}.json"`);
    assert.match(JSON.stringify(response.body['input']), /a secret zebra/);
    assert.equal((response.body['response'] as Item).id, made['first']);
    const conversation = await operator.send('GET', `/api/v1/conversations/${made['conversation'] ?? ''}/content`);
    const { metadata, items: all } = conversation.body as { metadata: object; items: object[] };
    assert.deepEqual([metadata, all.length], [{ topic: 'zebras' }, 200]);
    assert.match(JSON.stringify(all.at(-1)), /zebra 19/);
    const svg = await operator.send('GET', `/api/v1/files/${made['svg'] ?? ''}/content`);
    assert.equal(svg.text, script);
    assert.equal(svg.headers.get('content-disposition'), `attachment; filename="${made['svg'] ?? ''}"`);
    assert.match(svg.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
    assert.equal(svg.headers.get('x-content-type-options'), 'nosniff');
    const path = `/api/v1/files/${made['text'] ?? ''}/content`;
    assert.equal((await operator.send('GET', path)).text, large.toString());
    const [start, end] = [1024 * 1024 - 2, 2 * 1024 * 1024 + 1];
    const part = await operator.send('GET', path, undefined, { range: `bytes=${start}-${end}` });
    assert.deepEqual([part.status, part.text === large.subarray(start, end + 1).toString()], [206, true]);
    const last = await operator.send('GET', path, undefined, { range: 'bytes=-3' });
    assert.equal(last.text, large.subarray(-3).toString());
    const read = (await items(operator, '/audit?limit=6')).map(({ action, subject, actor }) => [action, subject, actor]);
    const file = ['files.read_content', `file:${made['text'] ?? ''}`, 'person:operator'];
    assert.deepEqual(read, [
      file,
      file,
      file,
      ['files.read_content', `file:${made['svg'] ?? ''}`, 'person:operator'],
      ['conversations.read_content', `conversation:${made['conversation'] ?? ''}`, 'person:operator'],
      ['responses.read_content', `response:${made['first'] ?? ''}`, 'person:Vera'],
    ]);
  });

  test('views are private or shared; a shared one is changed by its owner or an operator, and no other person sees a private one', async () => {
    const path = '/api/v1/saved_views';
    const own = await owner.send('POST', path, { name: 'Mine', page: 'usage', query: { group_by: ['team'] } });
    assert.deepEqual([own.status, own.body['shared'], own.body['is_own'], own.body['owner']], [201, false, true, 'person:Vera'], own.text);
    const at = `${path}/${String(own.body['id'])}`;
    assert.equal((await operator.send('GET', at)).status, 404);
    assert.equal((await operator.send('DELETE', at, undefined, { 'if-match': '*' })).status, 404);
    const etag = own.headers.get('etag') ?? '';
    const shared = await owner.send('PATCH', at, { shared: true }, { 'if-match': etag });
    assert.deepEqual([shared.status, shared.body['shared']], [200, true], shared.text);
    assert.equal((await owner.send('PATCH', at, { name: 'x' }, { 'if-match': etag })).status, 412);
    const general = await operator.send('POST', path, { name: 'All', page: 'calls', query: {}, shared: true });
    const theirs = `${path}/${String(general.body['id'])}`;
    assert.deepEqual(
      (await items(owner, '/saved_views')).map(({ name, is_own }) => [name, is_own]),
      [
        ['All', false],
        ['Mine', true],
      ],
    );
    assert.deepEqual(await idsOf(owner, '/saved_views?page=usage'), [own.body['id']]);
    const refused = await owner.send('PATCH', theirs, { name: 'Taken' }, { 'if-match': '*' });
    assert.deepEqual([refused.status, refused.body['code']], [403, 'permission_required']);
    const renamed = await operator.send('PATCH', at, { name: 'Renamed', query: { a: [1, 'x'] } }, { 'if-match': '*' });
    assert.deepEqual([renamed.body['name'], renamed.body['query'], renamed.body['owner']], ['Renamed', { a: [1, 'x'] }, 'person:Vera']);
    const withdrawn = await operator.send('PATCH', at, { shared: false }, { 'if-match': '*' });
    assert.deepEqual([withdrawn.status, (await operator.send('GET', at)).status], [200, 404], withdrawn.text);
    const large = await owner.send('POST', path, { name: 'Large', page: 'usage', query: { text: 'x'.repeat(17_000) } });
    assert.deepEqual([large.status, (large.body['errors'] as { pointer: string }[])[0]?.pointer], [400, '/query'], large.text);
    assert.equal((await owner.send('DELETE', at, undefined, { 'if-match': '*' })).status, 204);
  });

  test('an operator deletes what is as it was seen; the owner cannot, and the gateway finds it no more', async () => {
    for (const [kind, id] of [
      ['vector_stores', made['store']],
      ['files', made['svg']],
      ['conversations', made['conversation']],
      ['responses', made['second']],
    ] as const) {
      const path = `/api/v1/${kind}/${String(id)}`;
      const remove = (client: ConsoleClient, etag?: string) =>
        client.send('DELETE', path, undefined, etag === undefined ? {} : { 'if-match': etag });
      const etag = (await operator.send('GET', path)).headers.get('etag') ?? '';
      assert.equal((await remove(owner, etag)).status, 403, kind);
      assert.deepEqual([(await remove(operator)).status, (await remove(operator, '"99"')).status], [428, 412], kind);
      const removed = await remove(operator, etag);
      assert.equal(removed.status, 204, `${kind} ${removed.text}`);
      assert.deepEqual([(await remove(operator, '*')).status, (await operator.send('GET', path)).status], [404, 404], kind);
      const atGateway = await fetch(`${weir.gatewayUrl}/v1/${kind}/${String(id)}`, {
        headers: { authorization: `Bearer ${keys['stored-vera'] ?? ''}` },
      });
      assert.equal(atGateway.status, 404, kind);
      assert.equal((await items(operator, `/audit?action=${kind}.delete`)).length, 1);
    }
  });

  test('the copy of a vendor is deleted by a gateway, as an operation that the audit log names', async () => {
    const started = await eventually(
      async () => await items(operator, '/audit?action=responses.delete_at_vendor'),
      (rows) => rows.length === 1,
    );
    const id = String(started[0]?.['subject']).replace('operation:', '');
    const ended = await eventually(
      async () => (await operator.send('GET', `/api/v1/operations/${id}`)).body,
      ({ ended_at }) => typeof ended_at === 'string',
    );
    assert.deepEqual([ended['state'], ended['result']], ['done', { is_deleted: true }], JSON.stringify(ended));
    assert.doesNotMatch(JSON.stringify(ended), /~[0-9a-f]{4}/, 'the mark of the credential is not shown');
  });

  test('everything about a user is exported, and erased but for the books', async () => {
    const exported = await operator.send('GET', '/api/v1/users/stored-vera/export');
    assert.equal(exported.status, 200, exported.text);
    const lines = exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Item & { readonly type: string });
    for (const type of ['user', 'key', 'call', 'response', 'file', 'elsewhere'])
      assert.ok(
        lines.some((line) => line.type === type),
        type,
      );
    assert.doesNotMatch(exported.text, /stored-walt/);
    const call = lines.find((line) => line.type === 'call');
    assert.ok(call?.['receipt'] !== undefined, 'a call has its receipt');

    const erase = (client: ConsoleClient, confirm: string) => client.send('POST', '/api/v1/users/stored-vera/erase', { confirm });
    assert.equal((await erase(owner, 'stored-vera')).status, 403);
    assert.equal((await erase(operator, 'stored-walt')).status, 400);
    const erased = await erase(operator, 'stored-vera');
    assert.deepEqual([erased.status, erased.body['left']], [200, 0], erased.text);
    for (const list of ['responses', 'conversations', 'files', 'vector_stores', 'keys'])
      assert.deepEqual(await items(operator, `/${list}?user=stored-vera`), [], list);
    assert.notDeepEqual(await items(operator, '/responses?user=stored-walt'), []);
    const after = await operator.send('GET', '/api/v1/users/stored-vera/export');
    const calls = (text: string): readonly string[] => text.split('\n').filter((line) => line.startsWith('{"type":"call"'));
    assert.deepEqual(calls(after.text), calls(exported.text), 'the ledger and its receipts are as before');
    assert.equal((await operator.send('POST', '/api/v1/credits/verifications')).body['adds_up'], true);
    assert.equal((await items(operator, '/audit?action=users.erase')).length, 1);
    assert.equal((await items(operator, '/audit?action=users.export')).length, 2);
  });
});
