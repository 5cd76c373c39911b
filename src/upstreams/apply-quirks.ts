import type { ChatTraits, ModelTraits } from '../inference/model-traits.ts';
import type { AudioQuirks } from './audio-traits.ts';

/**
 * Traits of a server or model that are not the usual ones, by their names. The traits of chat completions stand beside the others: no two
 * share a name.
 */
export type Quirks = Partial<Omit<ModelTraits, 'chat'>> & Partial<ChatTraits> & { readonly audio?: AudioQuirks };

const chatNames = {
  outputLimitField: true,
  systemRole: true,
  streamOptions: true,
  parallelToolCallsField: true,
  forcedToolChoice: true,
  reasoningField: true,
  reasoningHistoryField: true,
  acceptsTopK: true,
} satisfies Record<keyof ChatTraits, true>;

/** Lays quirks over traits: what a quirk names has its value, the rest stays. */
export function applyQuirks(traits: ModelTraits, quirks: Quirks): ModelTraits {
  // Audio is the server's and not a model's: it is laid over the upstream.
  const entries = Object.entries(quirks).filter(([name]) => name !== 'audio');
  return {
    ...traits,
    ...Object.fromEntries(entries.filter(([name]) => !Object.hasOwn(chatNames, name))),
    chat: { ...traits.chat, ...Object.fromEntries(entries.filter(([name]) => Object.hasOwn(chatNames, name))) },
  };
}
