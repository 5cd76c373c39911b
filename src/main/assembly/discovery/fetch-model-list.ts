import type { DiscoveredModel } from '../../../gateway/attempts/routing/routing-table.ts';
import { isJsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { type AskLimits, askUpstream } from '../../../platform/http/ask-upstream.ts';
import type { UpstreamClient } from '../../../platform/http/upstream-client.ts';

/** The model list of an upstream, in OpenAI's format. */
export type ModelListSource = {
  readonly upstreamId: string;
  readonly url: string;
  /** The credential. It is sent only to `url`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The client that its calls use too. */
  readonly client: UpstreamClient;
};

/**
 * The most models of one list. Besides, an answer has at most 8 MiB; a long list of hundreds of models has about one.
 */
const modelsMax = 5000;
const nameLengthMax = 256;

/** `{data: [...]}` as OpenAI sends it, or a bare list as some services do. */
function entriesOf(list: JsonValue): readonly JsonValue[] | undefined {
  const entries: JsonValue | undefined = isJsonObject(list) ? list['data'] : list;
  return typeof entries === 'object' && entries !== null && !isJsonObject(entries) ? entries : undefined;
}

function readModel(entry: JsonValue): DiscoveredModel | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { id, created } = entry;
  if (typeof id !== 'string' || id === '' || id.length > nameLengthMax) return undefined;
  // Servers send 0 if the time is unknown.
  return typeof created === 'number' && Number.isSafeInteger(created * 1000) && created > 0
    ? { name: id, createdAtMs: created * 1000 }
    : { name: id };
}

/**
 * Reads the model list of an upstream. Entries without a usable name are ignored, and a repeated name counts once.
 * @throws Error for the log: no connection, a status other than 200, a redirect, no list, or a list beyond 8 MiB or
 * 5,000 models.
 */
export async function fetchModelList(source: ModelListSource, limits: AskLimits): Promise<readonly DiscoveredModel[]> {
  const { pathname, search } = new URL(source.url);
  const headers = { accept: 'application/json', 'accept-encoding': 'identity', ...source.headers };
  const request = { path: pathname + search, method: 'GET', headers, body: undefined } as const;
  const { status, body } = await askUpstream(source.client, request, limits);
  // Redirects count as failures: following one could carry the credential elsewhere.
  if (status !== 200) throw new Error(`it answered with status ${status}`);
  const entries = entriesOf(parseJson(body));
  if (entries === undefined) throw new Error('its answer is not a list of models');
  if (entries.length > modelsMax) throw new Error(`it lists more than ${modelsMax} models`);
  const models = new Map<string, DiscoveredModel>();
  for (const entry of entries) {
    const model = readModel(entry);
    if (model !== undefined && !models.has(model.name)) models.set(model.name, model);
  }
  return [...models.values()];
}
