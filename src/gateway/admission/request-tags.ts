import type { IncomingHttpHeaders } from 'node:http';

import type { ApiKey } from '../../accounts/api-key.ts';
import { addTags, type CallTags, findTagProblem, parseTags } from '../../accounts/call-tags.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';

/** The header with the tags of a call. Like all headers of this prefix it is never sent to an upstream. */
const tagsHeader = 'x-weir-tags';

/** The members of a request's metadata that are tags, by the name of the tag. */
export type MetadataTags = Readonly<Record<string, string>>;

/**
 * The caller of a request with the tags of its header. Those of the key win. The same object without such a header.
 * @throws GatewayError `invalid_value` that names the header
 */
export function withHeaderTags(caller: ApiKey, headers: IncomingHttpHeaders): ApiKey {
  const text = headers[tagsHeader];
  if (typeof text !== 'string') return caller;
  const read = parseTags(text);
  if ('problem' in read) throw invalid(tagsHeader, read.problem);
  return add(caller, read.tags, tagsHeader);
}

/**
 * The caller with the tags that the metadata of its request name. Those of the key and of the header win. The same
 * object if there are none.
 * @param metadata the member of the request: an object with texts
 * @throws GatewayError `invalid_value` that names the member
 */
export function withMetadataTags(
  caller: ApiKey,
  members: MetadataTags | undefined,
  metadata: JsonValue | undefined,
  path = 'metadata',
): ApiKey {
  if (members === undefined || typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return caller;
  const tags: Record<string, string> = {};
  for (const [name, member] of Object.entries(members)) {
    const value = Object.hasOwn(metadata, member) ? (metadata as Readonly<Record<string, JsonValue>>)[member] : undefined;
    if (value === undefined || value === null || caller.tags?.[name] !== undefined) continue;
    const field = `${path}.${member}`;
    if (typeof value !== 'string') throw invalid(field, `its value is no text, and it is the tag ${name} of the call`);
    const problem = findTagProblem(name, value);
    if (problem !== undefined) throw invalid(field, problem);
    tags[name] = value;
  }
  return Object.keys(tags).length === 0 ? caller : add(caller, tags, path);
}

function add(caller: ApiKey, tags: CallTags, param: string): ApiKey {
  const added = addTags(caller.tags, tags);
  if ('problem' in added) throw invalid(param, added.problem);
  return { ...caller, tags: added.tags };
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_value', `${param}: ${problem}`, { param });
}
