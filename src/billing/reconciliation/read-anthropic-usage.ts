import { readBuckets } from './read-buckets.ts';
import { type Members, noteUnread, readCount, readModel, readObject } from './read-members.ts';
import { ExportError, type UsageCounts, type VendorUsage } from './vendor-usage.ts';

/**
 * Members of a result that are read, and members that results are grouped by. All counts are disjoint; `output_tokens`
 * includes the thinking.
 */
const readMembers = new Set(
  (
    'model uncached_input_tokens cache_creation cache_read_input_tokens output_tokens server_tool_use ' +
    'api_key_id workspace_id account_id service_account_id service_tier context_window inference_geo speed'
  ).split(' '),
);
const knownWrites = new Set(['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens']);
const knownTools = new Set(['web_search_requests']);

/**
 * Reads pages of Anthropic's `GET /v1/organizations/usage_report/messages` with `group_by[]=model`: one page, or a list
 * of them. Buckets of a minute, an hour or a day begin at `starting_at` (RFC 3339); days are days of UTC. The report
 * does not count requests.
 * @throws ExportError
 */
export function readAnthropicUsage(json: unknown): VendorUsage {
  const unread = new Set<string>();
  const { results, ...times } = readBuckets(json, unread, (bucket, place) => [
    readTime(bucket, 'starting_at', place),
    readTime(bucket, 'ending_at', place),
  ]);
  const rows = results.map(({ members, place, startMs }) => {
    noteUnread(members, readMembers, unread);
    return { model: readModel(members, place), startMs, counts: readCounts(members, place, unread) };
  });
  return { timeZone: 'UTC', rows, ...times, unread: [...unread] };
}

function readCounts(members: Members, place: string, unread: Set<string>): UsageCounts {
  const writes = readObject(members['cache_creation'] ?? {}, `${place}.cache_creation`);
  const tools = readObject(members['server_tool_use'] ?? {}, `${place}.server_tool_use`);
  noteUnread(writes, knownWrites, unread);
  noteUnread(tools, knownTools, unread);
  return {
    input: readCount(members, 'uncached_input_tokens', place),
    cache_read: readCount(members, 'cache_read_input_tokens', place),
    cache_write_5m: readCount(writes, 'ephemeral_5m_input_tokens', place),
    cache_write_1h: readCount(writes, 'ephemeral_1h_input_tokens', place),
    output: readCount(members, 'output_tokens', place),
    web_searches: readCount(tools, 'web_search_requests', place),
  };
}

function readTime(members: Members, name: string, place: string): number {
  const time = Date.parse(String(members[name]));
  if (Number.isNaN(time)) throw new ExportError(`${place}.${name} is not a time`);
  return time;
}
