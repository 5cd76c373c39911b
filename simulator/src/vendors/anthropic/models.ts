import type { JsonRecord, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { refuse } from './anthropic-error.ts';

/** Models that the list names. Others answer too. */
const models = [
  ['claude-opus-5-5', 'Claude Opus 5.5', '2026-09-24T00:00:00Z', 128_000],
  ['claude-sonnet-5', 'Claude Sonnet 5', '2026-06-10T00:00:00Z', 64_000],
  ['claude-haiku-4-5', 'Claude Haiku 4.5', '2025-10-01T00:00:00Z', 64_000],
  ['claude-sonnet-4-5', 'Claude Sonnet 4.5', '2025-09-29T00:00:00Z', 64_000],
] as const;

const idPrefix = '/v1/models/';

/** GET /v1/models and /v1/models/{id}; undefined for every other route. */
export function handleModels(request: SimulatedRequest): SimulatedReply | undefined {
  if (request.method !== 'GET') return undefined;
  if (request.path === '/v1/models') return reply(listModels(request));
  if (!request.path.startsWith(idPrefix)) return undefined;
  const id = request.path.slice(idPrefix.length);
  const model = models.find(([name]) => name === id);
  if (model === undefined) throw refuse(request, `model: ${id}`, 404);
  return reply(writeModel(model));
}

function listModels(request: SimulatedRequest): JsonRecord {
  const limit = Number(request.query.get('limit') ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw refuse(request, 'limit: Input should be a valid integer between 1 and 1000');
  const after = request.query.get('after_id');
  const before = request.query.get('before_id');
  const ids: readonly string[] = models.map(([name]) => name);
  const start = after === null ? 0 : ids.indexOf(after) + 1;
  const end = before === null ? models.length : Math.max(0, ids.indexOf(before));
  const page = models.slice(start, Math.min(end, start + limit));
  return {
    data: page.map(writeModel),
    has_more: start + page.length < end,
    first_id: page[0]?.[0] ?? null,
    last_id: page.at(-1)?.[0] ?? null,
  };
}

function writeModel([id, displayName, createdAt, outputTokensMax]: (typeof models)[number]): JsonRecord {
  return { type: 'model', id, display_name: displayName, created_at: createdAt, max_input_tokens: 1_000_000, max_tokens: outputTokensMax };
}

function reply(body: JsonRecord): SimulatedReply {
  return { type: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
