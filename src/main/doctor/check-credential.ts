import { createUpstreamHeaders } from '../../gateway/attempts/exchange/prepare-request.ts';
import { filledText, objectsOf, membersOf } from '../../platform/json/json-readers.ts';
import { type Answer, AskError, askUpstream, type AskLimits } from '../../platform/http/ask-upstream.ts';
import { baseUrlHint, explainAnswer, explainSilence, mediaTypeOf, parseBody } from './explain-failure.ts';
import { type Finding, tidyWords } from './finding.ts';
import type { Patient } from './patient.ts';

export type CredentialCheck = {
  readonly findings: readonly Finding[];
  /** The models that the upstream lists, by their names there; empty where it told none. */
  readonly models: readonly string[];
  /** The upstream's clock minus ours, in milliseconds, where its answer says the time. */
  readonly clockSkewMs?: number;
  /** False when calls cannot succeed either. */
  readonly mayCall: boolean;
};

const subject = 'credential';
const http: Pick<Finding, 'subject'> = { subject: 'HTTP' };

/** The models in a list of OpenAI's or Anthropic's form, a bare list, or one of Gemini's form; undefined where it is none. */
function readModels(body: unknown): readonly string[] | undefined {
  const listed: unknown = Array.isArray(body) ? body : (membersOf(body).data ?? membersOf(body).models);
  if (!Array.isArray(listed)) return undefined;
  return objectsOf(listed).flatMap(({ id, name }) => {
    const model = filledText(id) ?? filledText(name);
    return model === undefined ? [] : [model.replace(/^models\//, '')];
  });
}

/** The `date` of an answer is cut to the second and as old as the answer's way here. */
function skewOf({ headers }: Answer, nowMs: number): { readonly clockSkewMs?: number } {
  const date = Date.parse(String(headers['date'] ?? ''));
  return Number.isNaN(date) ? {} : { clockSkewMs: date - nowMs };
}

/** Asks an upstream for its models with its credential: the cheapest request that vendors answer only with a good one. */
export async function checkCredential(patient: Patient, limits: AskLimits, nowMs: () => number): Promise<CredentialCheck> {
  const { upstream, keySource } = patient;
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
    const request = { path: upstream.basePath + vendor.probePath, method: 'GET', headers, body: undefined } as const;
    answer = await askUpstream(upstream.client, request, limits);
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    return { findings: [{ verdict: 'bad', ...http, ...explainSilence(error, patient, limits.timeoutMs) }], models: [], mayCall: false };
  }
  const skew = skewOf(answer, nowMs());
  const answered: Finding = { verdict: 'good', ...http, says: `GET ${vendor.probePath} answers ${answer.status}`, tookMs: answer.tookMs };
  const parsed = parseBody(answer.body);
  if (answer.status === 200 && parsed !== undefined) {
    const models = readModels(parsed);
    if (models === undefined) return { findings: [answered, strangeList(patient, answer)], models: [], mayCall: true, ...skew };
    const told = apiKey === undefined ? 'none is configured, and none is asked for here' : `${keySource} is accepted`;
    const open =
      apiKey !== undefined && vendor.keysUrl === undefined ? ' (for the list of models, which some servers give to anybody)' : '';
    const found: Finding = { verdict: 'good', subject, says: `${told}${open}; ${models.length} models are listed` };
    return { findings: [answered, found], models, mayCall: true, ...skew };
  }
  // Servers without a list of models may serve all the same: the first call will tell.
  if ([404, 405, 501].includes(answer.status)) {
    const says = `no list of models at ${patient.address}${vendor.probePath} (${answer.status}), so the first call has to prove it`;
    return {
      findings: [answered, { verdict: 'none', subject, says, advice: `is that address right? baseUrl ${baseUrlHint(patient)}` }],
      models: [],
      mayCall: true,
      ...skew,
    };
  }
  if (answer.status === 200 && mediaTypeOf(answer) !== 'text/html')
    return { findings: [answered, strangeList(patient, answer)], models: [], mayCall: true, ...skew };
  const isLimit = answer.status === 429 || answer.status >= 500;
  const failed: Finding = { verdict: isLimit ? 'warning' : 'bad', subject, ...explainAnswer(answer, dialect, '', patient) };
  return { findings: [answered, failed], models: [], mayCall: isLimit, ...skew };
}

/** Something that is no list may be the fault of the list alone: the first call will tell. */
function strangeList({ address, upstream }: Patient, answer: Answer): Finding {
  const type = mediaTypeOf(answer);
  const says = `GET ${address}${upstream.vendor.probePath} answers ${answer.body.length} bytes of ${type === '' ? 'no content type' : tidyWords(type)}, which are no list of models`;
  return { verdict: 'warning', subject, says, advice: 'if no call succeeds either, check baseUrl: this may be another service' };
}
