import { isRecord } from '../read-json.ts';
import type { JsonRecord } from '../simulated-vendor.ts';
import type { SimulatorState } from '../simulator-state.ts';
import { describeJob } from './video-jobs.ts';
import { readVideoScript } from './video-script.ts';

type Reply = { readonly status: number; readonly body: unknown };

/**
 * Video jobs for auditors and tests: GET /videos lists the accepted ones (filters `interface`, `model`, `prompt`,
 * `idempotencyKey`), GET /videos/{id} shows one, POST /videos/{id} with `{"video": "end=failed"}` changes its further
 * behaviour. Undefined for other routes.
 */
export function controlVideos(state: SimulatorState, method: string, url: URL, text: string): Reply | undefined {
  const nowMs = state.clock.nowMs();
  if (method === 'GET' && url.pathname === '/videos') {
    const all = state.videoJobs.list().map((job) => describeJob(job, nowMs));
    return { status: 200, body: all.filter((job) => isWanted(job, url.searchParams)) };
  }
  const id = /^\/videos\/([\w-]{1,100})$/.exec(url.pathname)?.[1];
  if (id === undefined || (method !== 'GET' && method !== 'POST')) return undefined;
  const job = state.videoJobs.get(id);
  if (job === undefined) return { status: 404, body: { error: `there is no video job ${id}` } };
  if (method === 'POST') {
    const changes: unknown = JSON.parse(text);
    if (!isRecord(changes) || typeof changes['video'] !== 'string') throw new Error('the body must be {"video": "<script>"}');
    job.script = { ...job.script, ...readVideoScript(changes['video']) };
  }
  return { status: 200, body: describeJob(job, nowMs) };
}

function isWanted(job: JsonRecord, query: URLSearchParams): boolean {
  return ['interface', 'model', 'prompt', 'idempotencyKey'].every((member) => !query.has(member) || job[member] === query.get(member));
}
