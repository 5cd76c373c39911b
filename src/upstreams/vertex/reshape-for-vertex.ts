import type { TranslationNote } from '../../inference/translation-notes.ts';
import { editMembers } from '../../platform/json/edit-members.ts';
import type { Reshape } from '../reshape.ts';
import { acceptedBetas, renamedBetas } from './vertex-betas.ts';

/** The version of the interface, which is in the body. Source: Anthropic's documentation of Claude on Vertex AI. */
const version = JSON.stringify('vertex-2023-10-16');

/**
 * Fits a request of Messages to Vertex AI: the model is in the path, the version in the body, and only flags that the
 * service knows stay in the header. Counting knows fewer flags than generating, so it gets none.
 */
export const reshapeForVertex: Reshape = (request, facts) => {
  const { route, headers } = request;
  if (route.dialect !== 'anthropic-messages') return undefined;
  const isCount = route.operation === 'count-tokens';
  const edits = editMembers(request, { remove: isCount ? [] : ['model'], set: { anthropic_version: version } });
  const { kept, notes } = isCount ? { kept: [], notes: [] } : sortBetas(headers['anthropic-beta'] ?? '', facts.betas);
  const beta = kept.length === 0 ? undefined : kept.join(',');
  return { edits, headers: { 'anthropic-version': undefined, 'anthropic-beta': beta }, notes };
};

function sortBetas(
  list: string,
  own: readonly string[] = [],
): { readonly kept: readonly string[]; readonly notes: readonly TranslationNote[] } {
  const sent = list
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');
  const known = sent.map((beta) => (acceptedBetas.has(beta) || own.includes(beta) ? beta : renamedBetas[beta]));
  const dropped = sent.filter((_beta, at) => known[at] === undefined);
  return {
    kept: [...new Set(known.filter((beta) => beta !== undefined))],
    notes: dropped.map((beta) => ({ kind: 'dropped', field: 'anthropic-beta', reason: `Vertex AI does not know ${beta.slice(0, 80)}` })),
  };
}
