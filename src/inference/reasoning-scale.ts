import type { ReasoningEffort, ReasoningRequest } from './inference-request.ts';
import type { ModelTraits } from './model-traits.ts';
import type { TranslationNotes } from './translation-notes.ts';

const efforts: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The budget of thought tokens for an effort, if a model is controlled by a budget. */
const budgetByEffort: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
};

/**
 * A lower budget means very little thought. It is the lowest budget that Messages accepts, and its clients mean little
 * thought by it, not none.
 */
const lowBudgetMin = 1024;

function effortOfBudget(tokens: number): ReasoningEffort {
  if (tokens <= 0) return 'none';
  if (tokens < lowBudgetMin) return 'minimal';
  return efforts.find((effort) => effort !== 'minimal' && budgetByEffort[effort] >= tokens) ?? 'max';
}

/** Finds the nearest effort that the model supports; of two equally near ones, the lower. */
function nearestEffort(effort: ReasoningEffort, supported: readonly ReasoningEffort[]): ReasoningEffort {
  const rank = efforts.indexOf(effort);
  const distance = (candidate: ReasoningEffort): number => Math.abs(efforts.indexOf(candidate) - rank);
  let nearest: ReasoningEffort | undefined;
  for (const candidate of supported) if (nearest === undefined || distance(candidate) < distance(nearest)) nearest = candidate;
  return nearest ?? effort;
}

/** The settings of thinking for the model. `default` sends nothing. */
export type FittedReasoning =
  | { readonly kind: 'default' | 'off' }
  | { readonly kind: 'effort'; readonly effort: ReasoningEffort }
  | { readonly kind: 'budget'; readonly tokens: number };

type Place = Parameters<TranslationNotes['dropped']>[0];

const placeOf = ({ path }: ReasoningRequest): Place => (path === undefined ? 'reasoning' : { path, otherwise: 'reasoning' });

function switchOff(place: Place, traits: ModelTraits, notes: TranslationNotes): FittedReasoning {
  if (!traits.alwaysReasons) return { kind: 'off' };
  notes.adapted(place, 'the model cannot stop thinking, so the lowest setting is sent');
  if (traits.reasoning === 'budget') return { kind: 'budget', tokens: budgetByEffort.minimal };
  const supported = (traits.efforts ?? efforts).filter((effort) => effort !== 'none');
  return { kind: 'effort', effort: nearestEffort('none', supported) };
}

function fitEffort(effort: ReasoningEffort, place: Place, traits: ModelTraits, notes: TranslationNotes): FittedReasoning {
  const supported = traits.efforts ?? efforts;
  const nearest = nearestEffort(
    effort,
    supported.filter((candidate) => candidate !== 'none'),
  );
  if (nearest !== effort) notes.adapted(place, `the model does not support the effort ${effort}, so ${nearest} is sent`);
  return { kind: 'effort', effort: nearest };
}

/**
 * Fits the client's request for thinking to the settings of a model. Effort and budget are mapped to each other,
 * unsupported efforts to the nearest supported one, and lost settings are noted.
 */
export function fitReasoning(request: ReasoningRequest | undefined, traits: ModelTraits, notes: TranslationNotes): FittedReasoning {
  if (request === undefined) return { kind: 'default' };
  const place = placeOf(request);
  const off = request.mode === 'off' || request.effort === 'none' || request.budgetTokens === 0;
  if (traits.reasoning === 'none') {
    const isAsked = request.mode === 'on' || request.effort !== undefined || request.budgetTokens !== undefined;
    if (!off && (isAsked || request.visible === true))
      notes.dropped(place, 'the model does not think, or its thinking cannot be controlled');
    return { kind: 'default' };
  }
  if (off) return switchOff(place, traits, notes);
  if (traits.reasoning === 'effort') {
    const { effort, budgetTokens } = request;
    if (effort !== undefined) return fitEffort(effort, place, traits, notes);
    if (budgetTokens !== undefined) return fitEffort(effortOfBudget(budgetTokens), place, traits, notes);
    // The client requests thinking without an amount: use the model's default, unless it would not think by default.
    return request.mode === 'on' ? fitEffort('medium', place, traits, notes) : { kind: 'default' };
  }
  if (request.budgetTokens !== undefined) return { kind: 'budget', tokens: request.budgetTokens };
  if (request.effort !== undefined) return { kind: 'budget', tokens: budgetByEffort[request.effort] };
  return request.mode === 'on' ? { kind: 'budget', tokens: budgetByEffort.medium } : { kind: 'default' };
}
