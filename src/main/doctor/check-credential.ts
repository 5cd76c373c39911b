import { serviceAt } from '../../gateway/attempts/routing/target.ts';
import { createUpstreamHeaders } from '../../gateway/attempts/exchange/prepare-request.ts';
import { filledText, objectsOf, membersOf } from '../../platform/json/json-readers.ts';
import { type Answer, AskError, askUpstream, type AskLimits } from '../../platform/http/ask-upstream.ts';
import { waitFor } from '../../platform/wait-for.ts';
import { baseUrlHint, explainAnswer, explainSilence, mediaTypeOf } from './explain-failure.ts';
import { parseBody } from './parse-body.ts';
import { type Finding, tidyWords } from './finding.ts';
import type { CheckedUpstream } from './checked-upstream.ts';

export type CredentialCheck = {
  readonly findings: readonly Finding[];
  /** The models that the upstream lists, by their names there; empty if it lists none. */
  readonly models: readonly string[];
  /** The upstream's clock minus ours, in milliseconds, if its answer has the time. */
  readonly clockSkewMs?: number;
  /** False if calls cannot succeed either. */
  readonly mayCall: boolean;
};

const subject = 'credential';
const http: Pick<Finding, 'subject'> = { subject: 'HTTP' };

/**
 * The models in a list of OpenAI's or Anthropic's form, a bare list, or one of Gemini's form; undefined if it is not a
 * list.
 */
function readModels(body: unknown): readonly string[] | undefined {
  const listed: unknown = Array.isArray(body) ? body : (membersOf(body).data ?? membersOf(body).models);
  if (!Array.isArray(listed)) return undefined;
  return objectsOf(listed).flatMap(({ id, name }) => {
    const model = filledText(id) ?? filledText(name);
    return model === undefined ? [] : [model.replace(/^models\//, '')];
  });
}

/** The clock difference. The `date` of an answer has no fraction of a second, and is as old as its transfer. */
function skewOf({ headers }: Answer, nowMs: number): { readonly clockSkewMs?: number } {
  const date = Date.parse(String(headers['date'] ?? ''));
  return Number.isNaN(date) ? {} : { clockSkewMs: date - nowMs };
}

/** Finds the credential of an upstream, says where it comes from, and checks that the upstream accepts it. */
export async function checkCredential(checked: CheckedUpstream, limits: AskLimits, nowMs: () => number): Promise<CredentialCheck> {
  const { credential } = checked.upstream;
  if (credential === undefined) return requestModels(checked, limits, nowMs);
  try {
    await waitFor(Promise.resolve(credential.current(limits.signal)), limits.timeoutMs, limits.signal);
  } catch (error) {
    const says = `no credential: ${error instanceof Error ? error.message : 'it cannot be fetched'}`;
    return { findings: [{ verdict: 'bad', subject, says: tidyWords(says) }], models: [], mayCall: false };
  }
  const { origin = 'its source', identity, expiresAtMs } = credential.describe();
  const end = expiresAtMs === undefined ? '' : `, until ${new Date(expiresAtMs).toISOString()}`;
  const says = `from ${origin}${identity === undefined ? '' : `, as ${identity}`}${end}`;
  const found: Finding = { verdict: 'good', subject, says: tidyWords(says) };
  const { findings, ...others } = await requestModels(checked, limits, nowMs);
  return { findings: [found, ...findings], ...others };
}

/** Requests the models of an upstream: the cheapest request that vendors answer only with a valid credential. */
async function requestModels(checked: CheckedUpstream, limits: AskLimits, nowMs: () => number): Promise<CredentialCheck> {
  const { upstream, keySource } = checked;
  const { vendor, apiKey } = upstream;
  const dialect = upstream.dialects[0] ?? 'openai-chat';
  const headers = createUpstreamHeaders(
    { operation: 'generate', body: {}, headers: {} },
    { upstream, upstreamModel: '' },
    { client: dialect, upstream: dialect },
    undefined,
  );
  let answer: Answer;
  try {
    const request = { path: serviceAt(upstream, vendor.probePath, ''), method: 'GET', headers, body: undefined } as const;
    answer = await askUpstream(upstream.client, request, limits);
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    return { findings: [{ verdict: 'bad', ...http, ...explainSilence(error, checked, limits.timeoutMs) }], models: [], mayCall: false };
  }
  const skew = skewOf(answer, nowMs());
  const answered: Finding = { verdict: 'good', ...http, says: `GET ${vendor.probePath} answers ${answer.status}`, tookMs: answer.tookMs };
  const parsed = parseBody(answer.body);
  if (answer.status === 200 && parsed !== undefined) {
    const models = readModels(parsed);
    if (models === undefined) return { findings: [answered, strangeList(checked, answer)], models: [], mayCall: true, ...skew };
    const none = checked.upstream.credential === undefined ? 'none is configured, and none is asked for here' : 'it is accepted';
    const told = apiKey === undefined ? none : `${keySource} is accepted`;
    const open =
      apiKey !== undefined && vendor.keysUrl === undefined ? ' (for the list of models, which some servers give to anybody)' : '';
    const found: Finding = { verdict: 'good', subject, says: `${told}${open}; ${models.length} models are listed` };
    return { findings: [answered, found], models, mayCall: true, ...skew };
  }
  // Servers without a list of models may still serve. The first call shows it.
  if ([404, 405, 501].includes(answer.status)) {
    const says = `no list of models at ${checked.address}${vendor.probePath} (${answer.status}), so the first call has to prove it`;
    return {
      findings: [answered, { verdict: 'none', subject, says, advice: `is that address right? baseUrl ${baseUrlHint(checked)}` }],
      models: [],
      mayCall: true,
      ...skew,
    };
  }
  if (answer.status === 200 && mediaTypeOf(answer) !== 'text/html')
    return { findings: [answered, strangeList(checked, answer)], models: [], mayCall: true, ...skew };
  const isLimit = answer.status === 429 || answer.status >= 500;
  const failed: Finding = { verdict: isLimit ? 'warning' : 'bad', subject, ...explainAnswer(answer, dialect, '', checked) };
  return { findings: [answered, failed], models: [], mayCall: isLimit, ...skew };
}

/** Only the list may be wrong. The first call shows it. */
function strangeList({ address, upstream }: CheckedUpstream, answer: Answer): Finding {
  const type = mediaTypeOf(answer);
  const says = `GET ${address}${upstream.vendor.probePath} answers ${answer.body.length} bytes of ${type === '' ? 'no content type' : tidyWords(type)}, which are not a list of models`;
  return { verdict: 'warning', subject, says, advice: 'if no call succeeds either, check baseUrl: this may be another service' };
}
