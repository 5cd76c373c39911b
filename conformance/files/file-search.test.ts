import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI, { toFile } from 'openai';

import { chatOnly, modelNames, models } from '../responses/models.ts';
import { openLedger } from '../support/read-ledger.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { commandOutput } from '../programs/run-command.ts';
import { makeDocx, makePdf } from './documents.ts';

type Response = OpenAI.Responses.Response;
type FileCitation = OpenAI.Responses.ResponseOutputText.FileCitation;

const contents: Readonly<Record<string, string | Buffer>> = {
  'harbour.md': '# Harbour\n\nThe harbour master of Eastquay is called Ottilie Brand.',
  'tides.pdf': makePdf(['The spring tide at Eastquay reaches seven metres.']),
  'ferry.docx': makeDocx('The ferry to Gull Island leaves at noon.'),
  'prices.csv': 'ticket,price\nferry to Gull Island,9 marks\n',
};

const searchCall = ({ output }: Response): OpenAI.Responses.ResponseFileSearchToolCall => {
  const found = output.find((item) => item.type === 'file_search_call');
  assert.ok(found, 'the search is shown');
  return found;
};

/** The answer itself. Before its search, the model may announce it. */
const textOf = ({ output }: Response): OpenAI.Responses.ResponseOutputText => {
  const message = output.findLast((item) => item.type === 'message');
  const [part] = message?.content ?? [];
  assert.ok(part?.type === 'output_text');
  return part;
};

const citationsOf = (response: Response): readonly FileCitation[] =>
  textOf(response).annotations.filter((annotation): annotation is FileCitation => annotation.type === 'file_citation');

describe('file search, from the upload to the books', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  let storeId = '';
  const ids = new Map<string, string>();

  before(async () => {
    running = await startSimulatedGateway({
      models,
      upstreams: ({ openai }) => chatOnly(openai),
      retries: {},
      config: { tools: { prices: { fileSearch: '0.0025' } } },
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
    storeId = (await client.vectorStores.create({ name: 'harbour' })).id;
    for (const [index, [name, content]] of Object.entries(contents).entries()) {
      const file = await client.files.create({ file: await toFile(Buffer.from(content), name), purpose: 'assistants' });
      ids.set(name, file.id);
      const added = await client.vectorStores.files.createAndPoll(
        storeId,
        { file_id: file.id, attributes: { place: index, kind: name.replace(/^.*\./, '') } },
        { pollIntervalMs: 50 },
      );
      assert.equal(added.status, 'completed', name);
    }
  });
  after(() => running[Symbol.asyncDispose]());

  const ask = (model: string, question: string, tool: Partial<OpenAI.Responses.FileSearchTool> = {}) => ({
    model,
    input: `Search my files for: ${question}`,
    tools: [{ type: 'file_search' as const, vector_store_ids: [storeId], ...tool }],
  });
  const resultsOf = async (tool: Partial<OpenAI.Responses.FileSearchTool>, question = 'Eastquay ferry Gull Island') =>
    searchCall(await client.responses.create({ ...ask('messages', question, tool), include: ['file_search_call.results'] })).results ?? [];

  for (const model of modelNames) {
    test(`${model}: a whole answer has the search, and cites the file after its sentence`, async () => {
      const response = await client.responses.create(ask(model, 'harbour master'));
      assert.equal(response.status, 'completed');
      const search = searchCall(response);
      assert.equal(search.status, 'completed');
      assert.deepEqual(search.queries, ['harbour master']);
      assert.ok(!search.results, 'results are only for clients that request them');
      const { text } = textOf(response);
      assert.match(text, /Ottilie Brand/);
      assert.doesNotMatch(text, /【|】|<source/);
      const cited = citationsOf(response);
      const [first] = cited;
      assert.ok(first);
      assert.equal(first.file_id, ids.get('harbour.md'));
      assert.equal(first.filename, 'harbour.md');
      const before = text.slice(0, first.index);
      assert.match(before, /Ottilie Brand\.$/, 'the position is after the sentence');
      const kept = await client.responses.retrieve(response.id);
      assert.deepEqual(citationsOf(kept), cited, 'the stored response is the same');
    });

    test(`${model}: a stream is the same, event by event`, async () => {
      const stream = client.responses.stream({ ...ask(model, 'spring tide'), include: ['file_search_call.results'] });
      const types: string[] = [];
      const numbers: number[] = [];
      const streamed: unknown[] = [];
      for await (const event of stream) {
        types.push(event.type);
        numbers.push(event.sequence_number);
        if (event.type === 'response.output_text.annotation.added') streamed.push(event.annotation);
      }
      const response = await stream.finalResponse();
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => index),
      );
      const steps = [
        'response.created',
        'response.file_search_call.in_progress',
        'response.file_search_call.searching',
        'response.file_search_call.completed',
        'response.output_text.delta',
        'response.output_text.annotation.added',
        'response.output_text.done',
        'response.completed',
      ];
      const searched = types.indexOf('response.file_search_call.completed');
      const places = steps.map((type) => types.indexOf(type, type.startsWith('response.output_text') ? searched : 0));
      assert.ok(!places.includes(-1), `every step is there: ${JSON.stringify([...new Set(types)])}`);
      assert.deepEqual(
        places,
        places.toSorted((one, other) => one - other),
        'in order',
      );
      const search = searchCall(response);
      assert.deepEqual(search.queries, ['spring tide']);
      const [best] = search.results ?? [];
      assert.equal(best?.file_id, ids.get('tides.pdf'));
      assert.equal(best?.filename, 'tides.pdf');
      assert.match(best?.text ?? '', /seven metres/);
      assert.ok((best?.score ?? 0) > 0 && (best?.score ?? 0) <= 1);
      assert.deepEqual(best?.attributes, { place: 1, kind: 'pdf' });
      assert.deepEqual(streamed, textOf(response).annotations);
      assert.equal(citationsOf(response)[0]?.file_id, ids.get('tides.pdf'));
    });
  }

  test('filters, the number of results and the threshold limit the results', async () => {
    const names = async (tool: Partial<OpenAI.Responses.FileSearchTool>): Promise<readonly string[]> =>
      (await resultsOf(tool)).map(({ filename }) => filename ?? '').toSorted((one, other) => one.localeCompare(other));
    assert.equal((await names({})).length, 4);
    assert.deepEqual(await names({ filters: { type: 'eq', key: 'kind', value: 'pdf' } }), ['tides.pdf']);
    assert.deepEqual(await names({ filters: { type: 'gte', key: 'place', value: 2 } }), ['ferry.docx', 'prices.csv']);
    assert.equal((await names({ max_num_results: 1 })).length, 1);
    const all = await resultsOf({});
    const highest = Math.max(...all.map(({ score }) => score ?? 0));
    const strict = await resultsOf({ ranking_options: { score_threshold: highest } });
    assert.ok(strict.length >= 1 && strict.every(({ score }) => score === highest));
    assert.deepEqual(await resultsOf({ filters: { type: 'eq', key: 'kind', value: 'none' } }), []);
  });

  test("another user's store and a missing one are refused alike, whatever the model's upstream", async () => {
    const stdout = await commandOutput(['keys', 'create', '--user', 'stranger', '--name', 'key'], {
      WEIR_DATA_DIR: running.weir.dataDirectory,
    });
    const key = stdout;
    const stranger = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: key, maxRetries: 0 });
    const refusal = async (asking: OpenAI, model: string, id: string): Promise<string> => {
      try {
        await asking.responses.create(ask(model, 'tide', { vector_store_ids: [id] }));
      } catch (error) {
        assert.ok(error instanceof OpenAI.APIError);
        return JSON.stringify([error.status, error.code, error.param, error.message.replaceAll(id, 'ID')]);
      }
      return 'answered';
    };
    for (const model of modelNames) {
      const foreign = await refusal(stranger, model, storeId);
      assert.match(foreign, /^\[404,/);
      assert.equal(foreign, await refusal(stranger, model, 'vs_000000000000000000000000'));
    }
  });

  test('a conversation with a search continues with another model, which has the results', async () => {
    for (const [index, from] of modelNames.entries()) {
      const to = modelNames[(index + 1) % modelNames.length] ?? from;
      const first = await client.responses.create(ask(from, 'harbour master'));
      const tag = `after-search-${from}`;
      const next = await client.responses.create(
        { model: to, previous_response_id: first.id, input: 'Thank you.' },
        { headers: { 'x-simulator-tag': tag } },
      );
      assert.equal(next.status, 'completed', `${from} to ${to}`);
      const sent = JSON.stringify(running.simulator.records().findLast((record) => record.tag === tag)?.requestBody);
      assert.match(sent, /Ottilie Brand/, `${to} receives what ${from} found`);
    }
  });

  test('the books have a row for each call of the model, and one for the search', async () => {
    const { data, response } = await client.responses.create(ask('chat', 'ferry')).withResponse();
    assert.ok(data.usage !== undefined && data.usage.input_tokens > 0);
    const ledger = await openLedger(running.weir.dataDirectory);
    const rows = await ledger.rows(response.headers.get('x-weir-request-id') ?? '', 3);
    await ledger.close();
    assert.equal(rows.length, 3, 'one for the call of the search, one for the search, and one for the answer');
    const searches = rows.flatMap(({ charge }) => charge.lines.filter(({ meter }) => meter === 'gateway_file_search'));
    assert.deepEqual(
      searches.map(({ quantity, unitPrice }) => [quantity, unitPrice]),
      [[1, '0.0025']],
      'the search is charged once',
    );
  });

  test('a deleted file is no longer found', async () => {
    const id = ids.get('ferry.docx');
    assert.ok(id !== undefined);
    await client.files.delete(id);
    const found = await resultsOf({}, 'ferry to Gull Island leaves at noon');
    assert.ok(found.length > 0 && found.every(({ file_id }) => file_id !== id));
  });
});
