import { GatewayError } from '../../../inference/gateway-error.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import type { EmbedTexts } from '../../../tools/file-search/embed-texts.ts';
import { awaitReply } from '../../replies/await-reply.ts';
import type { AttemptReport } from '../../telemetry/call-report.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { embed } from './embed-call.ts';
import { readVectors } from './read-reply.ts';

/** The same direction with the length 1. */
function toUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 ? vector.map((value) => value / length) : vector;
}

/** Names the calls that no key made, in the books of the user whose files they are for. */
const keyName = 'file search';

/** Every limit of spending that a user may have: the books are asked for those that there are, and by their amounts. */
const userLimits = { prepaid: true, spendPerDay: '0', spendPerMonth: '0', spendTotal: '0' } as const;

/** Nothing is reported of a call that no client made, and it takes no place of one. */
const admission = { releaseBytes: () => {} };

/** Vectors of texts by a model that clients could ask for too. Each request is a call of its own in the books of the user. */
export function embedWithModel(gateway: EmbeddingServices, model: string): EmbedTexts {
  return async (texts, { userName }, signal) => {
    const { clock, newId } = gateway;
    // No limits of a key: what the operator configured to be indexed is not to fail by them. What its user may spend holds all the same.
    const caller = { id: '', userId: userName, userName, name: keyName, hint: '', createdAtMs: 0, strictTranslation: false, userLimits };
    const body = { model, input: [...texts], encoding_format: 'base64' };
    const times = { acceptedAtMs: clock.nowMs(), startedMs: clock.monotonicMs() };
    const call = { callId: newId('req'), caller, settings: gateway.settings(), body, headers: {}, ...times, admission };
    let failure: GatewayError | undefined;
    const report: AttemptReport = {
      facts: undefined,
      trace: undefined,
      attemptStartedMs: undefined,
      exchanging: () => {},
      settled: (_entry, error) => (failure = error),
      ended: () => {},
    };
    const reply = await awaitReply(signal, (response) => embed(gateway, { ...call, response, disconnect: undefined, report }));
    if (failure !== undefined) throw failure;
    const vectors = readVectors(parseJsonObject(reply.body) ?? {}, texts.length);
    if (vectors === undefined) throw new GatewayError('upstream_invalid_reply', 'the embeddings model left out texts or sent odd vectors');
    return vectors.map(toUnit);
  };
}
