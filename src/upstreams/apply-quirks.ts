import type { ChatTraits, ModelTraits } from '../inference/model-traits.ts';
import { serviceQuirkFields, type ServiceQuirks } from './upstream-services.ts';

/**
 * Traits of a server or model that are not the usual ones, by their names. The traits of chat completions stand beside the others: no two
 * share a name.
 */
export type Quirks = Partial<Omit<ModelTraits, 'chat'>> & Partial<ChatTraits> & ServiceQuirks & ServerQuirks;

/** What is so of a server, whatever its models. */
type ServerQuirks = {
  /** Whether a request that comes again with the same `idempotency-key` is made once. */
  readonly idempotencyKeys?: boolean;
  /** Whether it takes tool calls without a type, addresses of images as texts and schemas without names, as its own clients write them. */
  readonly ownSpellings?: boolean;
};

const serverNames = {
  idempotencyKeys: true,
  ownSpellings: true,
} satisfies Record<keyof ServerQuirks, true>;

const chatNames = {
  outputLimitField: true,
  systemRole: true,
  streamOptions: true,
  parallelToolCallsField: true,
  forcedToolChoice: true,
  reasoningField: true,
  reasoningHistoryField: true,
  acceptsTopK: true,
  acceptsLogprobs: true,
} satisfies Record<keyof ChatTraits, true>;

/** Lays quirks over traits: what a quirk names has its value, the rest stays. */
export function applyQuirks(traits: ModelTraits, quirks: Quirks): ModelTraits {
  const entries = Object.entries(quirks).filter(([name]) => !Object.hasOwn(serverNames, name) && !Object.hasOwn(serviceQuirkFields, name));
  return {
    ...traits,
    ...Object.fromEntries(entries.filter(([name]) => !Object.hasOwn(chatNames, name))),
    chat: { ...traits.chat, ...Object.fromEntries(entries.filter(([name]) => Object.hasOwn(chatNames, name))) },
  };
}
