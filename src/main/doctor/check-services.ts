import { rerankPath } from '../../dialects/rerank/write-rerank-request.ts';
import { createUpstreamHeaders } from '../../gateway/attempts/exchange/prepare-request.ts';
import type { RoutingTable } from '../../gateway/attempts/routing/routing-table.ts';
import { serviceAt, type Upstream } from '../../gateway/attempts/routing/target.ts';
import { type ModelKind, modelKindNames, modelKinds } from '../../inference/interfaces.ts';
import { type Answer, AskError, askUpstream, type AskLimits } from '../../platform/http/ask-upstream.ts';
import { servesKind } from '../../upstreams/upstream-services.ts';
import type { Config } from '../config/config-schema.ts';
import { explainAnswer, explainSilence } from './explain-failure.ts';
import type { Finding } from './finding.ts';
import type { CheckedUpstream } from './checked-upstream.ts';

const subject = 'services';

/**
 * The route for a free test of a service: a request without a model, which no vendor bills. Undefined if the path
 * contains a model, or if the request is not JSON.
 */
const probes: Readonly<Record<ModelKind, (upstream: Upstream) => string | undefined>> = {
  chat: () => undefined,
  embeddings: () => undefined,
  image: (upstream) => {
    const { services, vendor } = upstream;
    // Every self-hosted server has this service until a call fails; rankings and moderations are configured.
    if (vendor.id === 'openai-compatible') return undefined;
    const { form, path } = services.images?.('') ?? {};
    return form === 'openai' || form === 'xai' ? serviceAt(upstream, path?.('generations') ?? '', '') : undefined;
  },
  speech: () => undefined,
  transcription: () => undefined,
  video: () => undefined,
  rerank: ({ basePath, services }) => (services.rerank === undefined ? undefined : rerankPath(basePath, services.rerank)),
  moderation: ({ basePath, services }) => (services.moderations === undefined ? undefined : basePath + services.moderations),
};

/** Checks what an upstream offers besides chats, and whether its routes exist, as far as this costs nothing. */
export async function checkServices(checked: CheckedUpstream, limits: AskLimits): Promise<readonly Finding[]> {
  const { upstream } = checked;
  const offered = modelKindNames.filter((kind) => kind !== 'chat' && servesKind(upstream.services, kind));
  if (offered.length === 0) return [];
  const told: Finding = {
    verdict: 'none',
    subject,
    says: `besides chats, calls of these kinds are routed to it: ${offered.join(', ')}`,
  };
  const asked = await Promise.all(offered.map((kind) => probe(checked, kind, limits)));
  return [told, ...asked.flat()];
}

async function probe(checked: CheckedUpstream, kind: ModelKind, limits: AskLimits): Promise<readonly Finding[]> {
  const { upstream } = checked;
  const path = probes[kind](upstream);
  if (path === undefined) return [];
  const headers = createUpstreamHeaders(
    { operation: 'generate', body: {}, headers: {} },
    { upstream, upstreamModel: '' },
    { client: 'openai-chat', upstream: 'openai-chat' },
    undefined,
  );
  try {
    const answer = await askUpstream(upstream.client, { path, method: 'POST', headers, body: Buffer.from('{}') }, limits);
    return [judge(checked, `POST ${path}`, kind, answer)];
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    return [{ verdict: 'warning', subject: kind, ...explainSilence(error, checked, limits.timeoutMs) }];
  }
}

function judge(checked: CheckedUpstream, route: string, kind: ModelKind, answer: Answer): Finding {
  const { status } = answer;
  // It knows the route, and reports the missing fields.
  if (status === 400 || status === 422) return { verdict: 'good', subject: kind, says: `${route} is there` };
  if (status === 404 || status === 405 || status === 501) {
    const says = `${route} is not there (${status})`;
    return {
      verdict: 'warning',
      subject: kind,
      says,
      advice: 'calls for it fail at this upstream: leave it out of the targets of such models, or correct its quirks',
    };
  }
  if (status === 200)
    return { verdict: 'warning', subject: kind, says: `${route} accepts a request without a model or anything to work on` };
  return { verdict: 'warning', subject: kind, ...explainAnswer(answer, 'openai-chat', '', checked) };
}

/** Configured models that no target can serve. A start accepts them, and each of their calls fails. */
export function findIdleModels(config: Config, { targetsOf }: Pick<RoutingTable, 'targetsOf'>): readonly Finding[] {
  const named: readonly (readonly [place: string, model: string | undefined, kind: ModelKind])[] = [
    ...Object.entries(config.models ?? {}).map(([name, { kind = 'chat' }]) => [`models.${name}.kind`, name, kind] as const),
    ['tools.fileSearch.embeddings.model', config.tools?.fileSearch?.embeddings?.model, 'embeddings'],
    ['tools.fileSearch.rerank.model', config.tools?.fileSearch?.rerank?.model, 'rerank'],
    ['moderations.standIn', config.moderations?.standIn, 'chat'],
  ];
  return named.flatMap(([place, model, kind]): readonly Finding[] => {
    if (model === undefined || model.endsWith('*')) return [];
    const targets = targetsOf(model);
    if (targets.some(({ upstream }) => servesKind(upstream.services, kind))) return [];
    const says = `${place}: ${targets.length === 0 ? `no upstream is known to serve ${model}` : `no upstream of ${model} ${modelKinds[kind].does}`}`;
    return [
      {
        verdict: 'warning',
        subject,
        says,
        advice: 'give it a target that does; for an openai-compatible server, set quirks or a preset',
      },
    ];
  });
}
