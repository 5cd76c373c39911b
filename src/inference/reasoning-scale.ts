import type { ReasoningEffort, ReasoningRequest } from './inference-request.ts';
import type { ModelTraits } from './model-traits.ts';
import type { TranslationNotes } from './translation-notes.ts';

const efforts: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Tokens of thought that an effort stands for where a model is steered by a budget. */
const budgetByEffort: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
};

/** Below it a budget asks for hardly any thought: it is the least that Messages takes, and its clients mean little thought by it, not none. */
const lowBudgetMin = 1024;

function effortOfBudget(tokens: number): ReasoningEffort {
  if (tokens <= 0) return 'none';
  if (tokens < lowBudgetMin) return 'minimal';
  return efforts.find((effort) => effort !== 'minimal' && budgetByEffort[effort] >= tokens) ?? 'max';
}

/** The nearest effort that the model knows; of two that are equally near, the lesser. */
function nearestEffort(effort: ReasoningEffort, known: readonly ReasoningEffort[]): ReasoningEffort {
  const rank = efforts.indexOf(effort);
  const distance = (candidate: ReasoningEffort): number => Math.abs(efforts.indexOf(candidate) - rank);
  let nearest: ReasoningEffort | undefined;
  for (const candidate of known) if (nearest === undefined || distance(candidate) < distance(nearest)) nearest = candidate;
  return nearest ?? effort;
}

/** What to say to the model of thinking. `default` is to say nothing. */
export type FittedReasoning =
  | { readonly kind: 'default' | 'off' }
  | { readonly kind: 'effort'; readonly effort: ReasoningEffort }
  | { readonly kind: 'budget'; readonly tokens: number };

type Place = Parameters<TranslationNotes['dropped']>[0];

const placeOf = ({ path }: ReasoningRequest): Place => (path === undefined ? 'reasoning' : { path, otherwise: 'reasoning' });

function switchOff(place: Place, traits: ModelTraits, notes: TranslationNotes): FittedReasoning {
  if (!traits.alwaysReasons) return { kind: 'off' };
  notes.adapted(place, 'this model cannot be kept from thinking; it is asked to think as little as it can');
  if (traits.reasoning === 'budget') return { kind: 'budget', tokens: budgetByEffort.minimal };
  const known = (traits.efforts ?? efforts).filter((effort) => effort !== 'none');
  return { kind: 'effort', effort: nearestEffort('none', known) };
}

function fitEffort(effort: ReasoningEffort, place: Place, traits: ModelTraits, notes: TranslationNotes): FittedReasoning {
  const known = traits.efforts ?? efforts;
  const nearest = nearestEffort(
    effort,
    known.filter((candidate) => candidate !== 'none'),
  );
  if (nearest !== effort) notes.adapted(place, `effort ${effort} is not known to this model; ${nearest} is sent`);
  return { kind: 'effort', effort: nearest };
}

/**
 * Fits what a client asked of thinking to what a model can be told: effort and budget are mapped to each other, unknown efforts to the
 * nearest known, and what cannot be told is noted.
 */
export function fitReasoning(request: ReasoningRequest | undefined, traits: ModelTraits, notes: TranslationNotes): FittedReasoning {
  if (request === undefined) return { kind: 'default' };
  const place = placeOf(request);
  const off = request.mode === 'off' || request.effort === 'none' || request.budgetTokens === 0;
  if (traits.reasoning === 'none') {
    const isAsked = request.mode === 'on' || request.effort !== undefined || request.budgetTokens !== undefined;
    if (!off && (isAsked || request.visible === true)) notes.dropped(place, 'this model does not think, or cannot be told how much');
    return { kind: 'default' };
  }
  if (off) return switchOff(place, traits, notes);
  if (traits.reasoning === 'effort') {
    const { effort, budgetTokens } = request;
    if (effort !== undefined) return fitEffort(effort, place, traits, notes);
    if (budgetTokens !== undefined) return fitEffort(effortOfBudget(budgetTokens), place, traits, notes);
    // Thinking that is asked for without a measure: the model's own measure, unless it would otherwise not think at all.
    return request.mode === 'on' ? fitEffort('medium', place, traits, notes) : { kind: 'default' };
  }
  if (request.budgetTokens !== undefined) return { kind: 'budget', tokens: request.budgetTokens };
  if (request.effort !== undefined) return { kind: 'budget', tokens: budgetByEffort[request.effort] };
  return request.mode === 'on' ? { kind: 'budget', tokens: budgetByEffort.medium } : { kind: 'default' };
}
