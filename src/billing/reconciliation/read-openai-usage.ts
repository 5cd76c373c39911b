import { type BucketResult, readBuckets } from './read-buckets.ts';
import { type Members, noteUnread, readCount, readModel } from './read-members.ts';
import type { AccountKind } from '../../inference/interfaces.ts';
import { ExportError, type UsageCounts, type VendorUsage, type VendorUsageRow } from './vendor-usage.ts';

/**
 * Members of a result that are read, and those that are ignored: parts of read members (by modality), and members that
 * results are grouped by. `input_tokens` includes cached and cache-write tokens; `output_tokens` includes the
 * reasoning; `num_model_requests` are answered requests.
 */
const readMembers = new Set(
  (
    'object model input_tokens input_cached_tokens input_cache_write_tokens input_uncached_tokens output_tokens num_model_requests ' +
    'input_text_tokens output_text_tokens input_cached_text_tokens input_audio_tokens input_cached_audio_tokens output_audio_tokens ' +
    'input_image_tokens input_cached_image_tokens output_image_tokens project_id user_id api_key_id batch service_tier'
  ).split(' '),
);
const kindsByObject: Readonly<Record<string, AccountKind>> = {
  'organization.usage.completions.result': 'completions',
  'organization.usage.embeddings.result': 'embeddings',
};

/**
 * Reads pages of OpenAI's `GET /v1/organization/usage/completions` (or `/embeddings`) with `group_by=model`: one page,
 * or a list of them. Buckets of a minute, an hour or a day begin at `start_time`, in Unix seconds; days are days of
 * UTC. Results of other kinds, such as costs, are named and omitted.
 * @throws ExportError
 */
export function readOpenAiUsage(json: unknown): VendorUsage {
  const unread = new Set<string>();
  const { results, ...times } = readBuckets(json, unread, (bucket, place) => [
    readCount(bucket, 'start_time', place) * 1000,
    readCount(bucket, 'end_time', place) * 1000,
  ]);
  const rows = results.flatMap((result) => readResult(result, unread));
  const found = new Set(results.flatMap(({ members }) => kindsByObject[String(members['object'])] ?? []));
  // An export of days without usage does not contain its kind.
  const kinds: readonly AccountKind[] = found.size > 0 ? [...found] : ['completions', 'embeddings'];
  return { timeZone: 'UTC', rows, ...times, kinds, unread: [...unread] };
}

function readResult({ members, place, startMs }: BucketResult, unread: Set<string>): VendorUsageRow[] {
  if (kindsByObject[String(members['object'])] === undefined) {
    unread.add(`results of ${String(members['object'])}`);
    return [];
  }
  noteUnread(members, readMembers, unread);
  return [{ model: readModel(members, place), startMs, counts: readCounts(members, place) }];
}

function readCounts(members: Members, place: string): UsageCounts {
  const cached = readCount(members, 'input_cached_tokens', place);
  const written = readCount(members, 'input_cache_write_tokens', place);
  const input = readCount(members, 'input_tokens', place) - cached - written;
  if (input < 0) throw new ExportError(`${place}.input_tokens is less than the sum of its cached parts`);
  return {
    input,
    cache_read: cached,
    cache_write_5m: written,
    output: readCount(members, 'output_tokens', place),
    requests: readCount(members, 'num_model_requests', place),
  };
}
