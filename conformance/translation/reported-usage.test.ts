import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import type { Receipt, ReceiptRow } from '../../src/billing/receipts/receipt.ts';
import { verifyReceipt } from '../../src/billing/receipts/verify-receipt.ts';
import { call, eventually } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';
import { type BenchReply, modelName, startTranslationBench, type TranslationBench } from './bench.ts';
import { translationClients } from './clients/clients.ts';
import type { Conversation, ClientView, TranslationClient } from './conversation.ts';
import { upstreamDialects } from './upstreams/upstreams.ts';

/**
 * B10: the client's usage, the receipt's usage and the upstream's report, on every route and for every end of a reply.
 */
let bench: TranslationBench;
/** The gateway cuts its models at stop sequences, and also runs the built-in tools. */
let busyBench: TranslationBench;
before(async () => {
  [bench, busyBench] = await Promise.all([
    startTranslationBench(),
    startTranslationBench({ model: { stopSequences: 'gateway' }, runsTools: true }),
  ]);
});
after(() => Promise.all([bench[Symbol.asyncDispose](), busyBench[Symbol.asyncDispose]()]));

const outputTokensMax = 50;
const hello: Conversation = { turns: [{ role: 'user', parts: ['Hello'] }] };
const words = Array.from({ length: 150 }, (_, at) => `word${at}`).join(' ');

type Report = Readonly<Record<DialectId, Readonly<Record<string, unknown>>>>;

/** The same false count in the format of each upstream. */
const output = (figure: unknown): Report => ({
  'anthropic-messages': { output_tokens: figure },
  'openai-responses': { output_tokens: figure },
  'openai-chat': { completion_tokens: figure },
  'gemini-generate-content': { candidatesTokenCount: figure },
});
const input = (figure: unknown): Report => ({
  'anthropic-messages': { input_tokens: figure },
  'openai-responses': { input_tokens: figure },
  'openai-chat': { prompt_tokens: figure },
  'gemini-generate-content': { promptTokenCount: figure },
});
const cached: Report = {
  'anthropic-messages': { cache_read_input_tokens: 1_000_000_000 },
  'openai-responses': { 'input_tokens_details.cached_tokens': 1_000_000_000 },
  'openai-chat': { 'prompt_tokens_details.cached_tokens': 1_000_000_000 },
  'gemini-generate-content': { cachedContentTokenCount: 1_000_000_000 },
};

type Ending = {
  readonly name: string;
  readonly conversation?: Partial<Conversation>;
  readonly steering?: Readonly<Record<string, string>>;
  readonly usage?: 'absent' | Report;
  readonly disputed?: true;
};

const endings: readonly Ending[] = [
  { name: 'the reply ends by itself', steering: { 'output-tokens': '37' } },
  { name: 'the reply ends at a stop sequence', conversation: { stop: ['word9 '] }, steering: { text: encodeURIComponent(words) } },
  { name: 'the reply reaches its output limit', conversation: { outputTokensMax }, steering: { 'output-tokens': '200' } },
  { name: 'the upstream reports no usage', steering: { 'output-tokens': '37' }, usage: 'absent' },
  { name: 'a billion output tokens are reported for 50', usage: output(1_000_000_000), disputed: true },
  { name: 'one output token more than the limit is reported', usage: output(outputTokensMax + 1), disputed: true },
  { name: 'a billion input tokens are reported', usage: input(1_000_000_000), disputed: true },
  { name: 'more cached tokens than input are reported', usage: cached, disputed: true },
  { name: 'a negative count is reported', usage: output(-7), disputed: true },
  { name: 'a fractional count is reported', usage: output(7.5), disputed: true },
  { name: 'a count is reported as a string', usage: output('many'), disputed: true },
];

/** Rows of the model: the cost of a tool has no tokens. */
const modelRows = ({ rows }: Receipt): readonly ReceiptRow[] => rows.filter(({ usage }) => usage.input_tokens !== undefined);

/** The receipt of a call, as soon as it has a row of each round. */
async function receiptOf(callId: string, { weir }: TranslationBench = bench, rounds = 1): Promise<Receipt> {
  const { gatewayUrl, apiKey } = weir;
  const answer = await eventually(
    () => call(`${gatewayUrl}/v1/receipts/${callId}`, { headers: { authorization: `Bearer ${apiKey}` } }),
    ({ status, json }) => status === 200 && modelRows(json).length >= rounds,
  );
  const receipt: Receipt = answer.json;
  assert.deepEqual(verifyReceipt(receipt).problems, []);
  return receipt;
}

function onlyRow({ rows }: Receipt): ReceiptRow {
  const [row, ...others] = rows;
  assert.ok(row !== undefined && others.length === 0);
  return row;
}

/** All charged input and output. */
function chargedBy({ usage }: ReceiptRow): { readonly input: number; readonly output: number } {
  const { input_tokens = 0, cache_read_tokens = 0, cache_write_5m_tokens = 0, cache_write_1h_tokens = 0, output_tokens = 0 } = usage;
  return { input: input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens, output: output_tokens };
}

const toldBy = ({ usage }: ClientView): { readonly input: number; readonly output: number } | undefined =>
  usage === undefined ? undefined : { input: usage.input, output: usage.output };

function readReply(client: TranslationClient, stream: boolean, { answer }: BenchReply): ClientView {
  assert.equal(answer.status, 200, answer.text.slice(0, 500));
  return stream ? client.readStream(answer.text) : client.readWhole(answer.json);
}

/** Compares the three accounts of one call with each other. */
function compare(said: ClientView, row: ReceiptRow, { truth }: BenchReply, isTranslated: boolean): void {
  const charged = chargedBy(row);
  const planned = truth?.plannedUsage;
  assert.ok(planned);
  const reported = { input: planned.inputTokens + planned.cacheReadTokens + planned.cacheWriteTokens, output: planned.outputTokens };
  if (isTranslated) assert.deepEqual(toldBy(said), charged, 'the client gets the charged usage');
  if (row.estimated) {
    assert.notEqual(row.estimate_reason, null, 'the receipt has the reason for the estimate');
    return;
  }
  assert.deepEqual(charged, reported, "the receipt has the upstream's report");
  assert.deepEqual(toldBy(said), charged, 'the client gets the charged usage');
}

const search = { 'tool-name': 'web_search', 'tool-arguments': encodeURIComponent('{"query":"weir"}') };

/** Ends of a reply that the gateway takes part in. */
const busyEndings: readonly (Ending & { readonly rounds: number })[] = [
  {
    name: 'the gateway cuts it at a stop sequence',
    conversation: { stop: ['word9 '] },
    steering: { text: encodeURIComponent(words) },
    rounds: 1,
  },
  {
    name: 'the gateway has run a tool',
    conversation: { search: {} },
    steering: { ...search, text: encodeURIComponent(words) },
    rounds: 2,
  },
  {
    name: 'the gateway has run a tool, and cuts it at a stop sequence',
    conversation: { search: {}, stop: ['word9 '] },
    steering: { ...search, text: encodeURIComponent(words) },
    rounds: 2,
  },
];

type Figures = { readonly input: number; readonly output: number };
const sumOf = (figures: readonly Figures[]): Figures =>
  figures.reduce((sum, { input, output }) => ({ input: sum.input + input, output: sum.output + output }), { input: 0, output: 0 });

/** Compares the accounts of a call that may have called its upstream several times. */
function compareRounds(said: ClientView, rows: readonly ReceiptRow[], { truths }: BenchReply): void {
  assert.deepEqual(toldBy(said), sumOf(rows.map(chargedBy)), 'the client gets the charged usage');
  for (const { estimated, estimate_reason } of rows) if (estimated) assert.notEqual(estimate_reason, null, 'the receipt has the reason');
  if (rows.some(({ estimated }) => estimated)) return;
  const reported = truths.map(({ plannedUsage }) => {
    assert.ok(plannedUsage);
    const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = plannedUsage;
    return { input: inputTokens + cacheReadTokens + cacheWriteTokens, output: outputTokens };
  });
  assert.deepEqual(sumOf(rows.map(chargedBy)), sumOf(reported), "the receipt has the upstream's report");
}

for (const client of translationClients)
  for (const to of upstreamDialects)
    describe(`${client.title} over ${to}, if the gateway takes part in the reply`, () => {
      for (const stream of [false, true])
        for (const { name, conversation, steering = {}, rounds } of busyEndings) {
          if (conversation?.stop !== undefined && client.dialect === 'openai-responses') continue;
          test(`the reported and the charged usage agree, or the receipt has the reason, ${stream ? 'streamed' : 'whole'}: ${name}`, async () => {
            const asked = { client, to, model: 'plain', stream, conversation: { ...hello, ...conversation }, steering } as const;
            const reply = await busyBench.send(asked);
            const said = readReply(client, stream, reply);
            assert.equal(reply.truths.length, rounds);
            assert.equal(said.text.includes('word10'), conversation?.stop === undefined);
            const rows = modelRows(await receiptOf(reply.callId, busyBench, rounds));
            assert.equal(rows.length, rounds);
            compareRounds(said, rows, reply);
          });
        }
    });

for (const client of translationClients) {
  for (const to of upstreamDialects) {
    describe(`${client.title} over ${to}`, () => {
      for (const stream of [false, true]) {
        const how = stream ? 'streamed' : 'whole';
        for (const ending of endings) {
          if (ending.conversation?.stop !== undefined && client.dialect === 'openai-responses') continue;
          test(`the reported and the charged usage agree, or the receipt has the reason, ${how}: ${ending.name}`, async () => {
            const { usage } = ending;
            const conversation = { ...hello, ...(ending.disputed === true ? { outputTokensMax } : {}), ...ending.conversation };
            const report = usage === undefined ? {} : { usage: usage === 'absent' ? usage : JSON.stringify(usage[to]) };
            const steering = { ...(ending.disputed === true ? { 'output-tokens': '12' } : {}), ...ending.steering, ...report };
            const reply = await bench.send({ client, to, model: 'plain', stream, conversation, steering });
            const receipt = await receiptOf(reply.callId);
            const row = onlyRow(receipt);
            if (ending.disputed !== true) {
              assert.equal(row.disputed, undefined);
              compare(readReply(client, stream, reply), row, reply, client.dialect !== to);
              return;
            }
            assert.ok(row.disputed, JSON.stringify(row.usage_reported));
            assert.deepEqual([row.estimated, row.estimate_reason], [true, 'impossible_usage_report']);
            const charged = chargedBy(row);
            assert.ok(charged.output <= outputTokensMax && charged.input < 1000, JSON.stringify(charged));
            assert.ok(charged.input > 0 && charged.output > 0, 'a broken upstream is not free');
            assert.ok(BigInt(receipt.total.nano_usd) < 10_000_000n, receipt.total.usd);
            if (client.dialect !== to) assert.deepEqual(toldBy(readReply(client, stream, reply)), charged);
          });
        }
      }

      test('a truncated reply is charged for its delivered part, and the receipt says so', async () => {
        const pace = 'tokensPerSecond=200;tokensPerFrame=2';
        const steering = { fault: 'truncate;after=6', pace, 'output-tokens': '60' };
        const reply = await bench.send({ client, to, model: 'plain', stream: true, conversation: hello, steering });
        const row = onlyRow(await receiptOf(reply.callId));
        assert.deepEqual([row.end, row.estimated, row.estimate_reason], ['cut', true, 'reply_broken_off']);
        assert.ok(chargedBy(row).output <= 60 && chargedBy(row).output > 0);
      });

      test('a client that disconnects is charged for the output until then, and the receipt says so', async () => {
        const { gatewayUrl, apiKey } = bench.weir;
        const written = client.write(hello, modelName('plain', to), true);
        const open = openCall(gatewayUrl + written.path, {
          headers: {
            authorization: `Bearer ${apiKey}`,
            ...written.headers,
            'x-simulator-pace': 'tokensPerSecond=40;tokensPerFrame=2',
            'x-simulator-text': encodeURIComponent(words),
          },
          body: JSON.stringify(written.body),
        });
        await open.until((text) => text.includes('word3'));
        open.leave('rst');
        const row = onlyRow(await receiptOf(String((await open.head).headers['x-weir-request-id'])));
        assert.equal(row.end, 'client-left');
        assert.deepEqual([row.estimated, row.estimate_reason], [true, 'reply_broken_off']);
        assert.ok(chargedBy(row).output > 0 && row.disconnect !== null);
      });
    });
  }
}
