import type { DiscoveredModel } from '../../../gateway/attempts/routing/routing-table.ts';
import { isJsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { type AskLimits, askUpstream } from '../../../platform/http/ask-upstream.ts';
import type { UpstreamClient } from '../../../platform/http/upstream-client.ts';

/** Where an upstream lists its models in OpenAI's form. */
export type ModelListSource = {
  readonly upstreamId: string;
  readonly url: string;
  /** The credential. It is sent nowhere but to `url`. */
  readonly headers: Readonly<Record<string, string>>;
  /** What its calls go through too. */
  readonly client: UpstreamClient;
};

/** Bounds of one list, besides the 8 MiB of any answer. A service with many hundred models, described at length, needs about a megabyte. */
const modelsMax = 5000;
const nameLengthMax = 256;

/** `{data: [...]}` as OpenAI has it, or the bare list that some services send. */
function entriesOf(list: JsonValue): readonly JsonValue[] | undefined {
  const entries: JsonValue | undefined = isJsonObject(list) ? list['data'] : list;
  return typeof entries === 'object' && entries !== null && !isJsonObject(entries) ? entries : undefined;
}

function readModel(entry: JsonValue): DiscoveredModel | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { id, created } = entry;
  if (typeof id !== 'string' || id === '' || id.length > nameLengthMax) return undefined;
  // Servers that do not know say 0.
  return typeof created === 'number' && Number.isSafeInteger(created * 1000) && created > 0
    ? { name: id, createdAtMs: created * 1000 }
    : { name: id };
}

/**
 * Asks an upstream for its models. Entries without a usable name are left out, and a name that comes twice counts once.
 * @throws Error saying what went wrong, for the log: no connection, another status than 200, a redirect, no list, or one beyond 8 MiB or 5,000 models.
 */
export async function fetchModelList(source: ModelListSource, limits: AskLimits): Promise<readonly DiscoveredModel[]> {
  const { pathname, search } = new URL(source.url);
  const headers = { accept: 'application/json', 'accept-encoding': 'identity', ...source.headers };
  const request = { path: pathname + search, method: 'GET', headers, body: undefined } as const;
  const { status, body } = await askUpstream(source.client, request, limits);
  // Redirects count as failures: following one could carry the credential elsewhere.
  if (status !== 200) throw new Error(`it answered with status ${status}`);
  const entries = entriesOf(parseJson(body));
  if (entries === undefined) throw new Error('its answer is no list of models');
  if (entries.length > modelsMax) throw new Error(`it lists more than ${modelsMax} models`);
  const models = new Map<string, DiscoveredModel>();
  for (const entry of entries) {
    const model = readModel(entry);
    if (model !== undefined && !models.has(model.name)) models.set(model.name, model);
  }
  return [...models.values()];
}
