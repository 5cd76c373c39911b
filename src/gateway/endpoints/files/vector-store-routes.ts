import type { JsonObject } from '../../../platform/json/json-value.ts';
import { autoChunking, type CountedStore, expiryOf, type VectorStore } from '../../../tools/file-search/file-objects.ts';
import { queryCharactersMax } from '../../../tools/file-search/index-terms.ts';
import { queriesMax } from '../../../tools/file-search/search-files.ts';
import { addFiles } from './add-files.ts';
import { encodeList, encodeStore } from './encode-objects.ts';
import { type FilesContext, type FilesHandler, notFound } from './files-context.ts';
import {
  invalid,
  readChunking,
  readFilter,
  readInteger,
  readList,
  readMetadata,
  readNumber,
  readObject,
  readOptional,
  readPage,
  readText,
} from '../shared/read-fields.ts';

async function findStore({ files, caller }: FilesContext, storeId: string): Promise<CountedStore> {
  const store = await files.store.findVectorStore({ userName: caller.userName, storeId });
  if (store === undefined) throw notFound('vector store', storeId);
  return store;
}

function readExpiry(body: JsonObject): number | undefined {
  return readOptional(body['expires_after'], (value) => {
    const { anchor, days = null } = readObject(value, 'expires_after');
    if (anchor !== 'last_active_at') throw invalid('expires_after.anchor', "expected 'last_active_at'");
    return readInteger(days, 'expires_after.days', 1, 365);
  });
}

export const createStore: FilesHandler = async (context) => {
  const { files, caller, gateway } = context;
  const body = await context.readBody();
  const nowMs = gateway.clock.nowMs();
  const expiresAfterDays = readExpiry(body);
  const chunking = readOptional(body['chunking_strategy'], (value) => readChunking(value, 'chunking_strategy')) ?? autoChunking;
  const fileIds =
    readOptional(body['file_ids'], (value) => (Array.isArray(value) && value.length === 0 ? [] : readList(value, 'file_ids', 500))) ?? [];
  const added = fileIds.map((id, index) => ({ fileId: readText(id, `file_ids[${index}]`), attributes: {}, chunking }));
  const store: VectorStore = {
    id: gateway.newId('vs'),
    userName: caller.userName,
    name: readOptional(body['name'], (value) => readText(value, 'name', 256)) ?? '',
    metadata: readOptional(body['metadata'], (value) => readMetadata(value, 'metadata')) ?? {},
    createdAtMs: nowMs,
    lastActiveAtMs: nowMs,
    ...(expiresAfterDays === undefined ? {} : { expiresAfterDays }),
  };
  await files.store.insertVectorStore(store);
  try {
    if (added.length > 0) await addFiles(context, { storeId: store.id, added, param: 'file_ids' });
  } catch (error) {
    await files.store.deleteVectorStore({ userName: caller.userName, storeId: store.id });
    throw error;
  }
  return encodeStore(await findStore(context, store.id), nowMs);
};

export const listStores: FilesHandler = async ({ files, caller, gateway, query }) => {
  const { shown, ...page } = readPage(query, { limitMax: 100, fallback: 20 });
  const rows = await files.store.listVectorStores({ ...page, userName: caller.userName });
  const nowMs = gateway.clock.nowMs();
  return encodeList(rows, shown, (store) => encodeStore(store, nowMs), page.before !== undefined);
};

export const showStore: FilesHandler = async (context, [id = '']) =>
  encodeStore(await findStore(context, id), context.gateway.clock.nowMs());

export const changeStore: FilesHandler = async (context, [id = '']) => {
  const body = await context.readBody();
  const { counts: _counts, usageBytes: _usageBytes, expiresAfterDays: days, ...store } = await findStore(context, id);
  const nowMs = context.gateway.clock.nowMs();
  const expiresAfterDays = body['expires_after'] === undefined ? days : readExpiry(body);
  const name = readOptional(body['name'], (value) => readText(value, 'name', 256));
  const metadata = readOptional(body['metadata'], (value) => readMetadata(value, 'metadata'));
  await context.files.store.changeVectorStore({
    ...store,
    ...(name === undefined ? {} : { name }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(expiresAfterDays === undefined ? {} : { expiresAfterDays }),
  });
  return encodeStore(await findStore(context, id), nowMs);
};

export const deleteStore: FilesHandler = async ({ files, caller }, [id = '']) => {
  if (!(await files.store.deleteVectorStore({ userName: caller.userName, storeId: id }))) throw notFound('vector store', id);
  return { id, object: 'vector_store.deleted', deleted: true };
};

const rankers = ['none', 'auto', 'default-2024-11-15', 'default_2024_08_21'];

function readRanking(body: JsonObject) {
  return (
    readOptional(body['ranking_options'], (value) => {
      const options = readObject(value, 'ranking_options');
      const ranker = readOptional(options['ranker'], (name) => readText(name, 'ranking_options.ranker'));
      if (ranker !== undefined && !rankers.includes(ranker))
        throw invalid('ranking_options.ranker', `expected one of ${rankers.join(', ')}`);
      return {
        ranker,
        scoreThreshold: readOptional(options['score_threshold'], (score) => readNumber(score, 'ranking_options.score_threshold', 0, 1)),
      };
    }) ?? {}
  );
}

export const searchStore: FilesHandler = async (context, [id = '']) => {
  const { files, caller, signal } = context;
  const body = await context.readBody();
  const { query } = body;
  const queries = Array.isArray(query)
    ? readList(query, 'query', queriesMax).map((text, index) => readText(text, `query[${index}]`, queryCharactersMax))
    : [readText(query, 'query', queryCharactersMax)];
  if (queries.every((query) => query.trim() === '')) throw invalid('query', 'expected a text');
  const filter = readOptional(body['filters'], (value) => readFilter(value, 'filters'));
  const resultsMax = readOptional(body['max_num_results'], (value) => readInteger(value, 'max_num_results', 1, 50)) ?? 10;
  const ranking = readRanking(body);
  const store = await findStore(context, id);
  const nowMs = context.gateway.clock.nowMs();
  if ((expiryOf(store) ?? Infinity) <= nowMs) throw invalid('vector_store_id', 'this vector store has expired');
  await files.store.touchVectorStore({ userName: caller.userName, storeId: id, nowMs });
  const found = await files.search({
    userName: caller.userName,
    keyId: caller.id,
    storeIds: [id],
    queries,
    filter,
    resultsMax,
    ...ranking,
    signal,
  });
  return {
    object: 'vector_store.search_results.page',
    search_query: queries,
    data: found.map(({ fileId, filename, score, attributes, text }) => ({
      file_id: fileId,
      filename,
      score,
      attributes,
      content: [{ type: 'text', text }],
    })),
    has_more: false,
    next_page: null,
  };
};
