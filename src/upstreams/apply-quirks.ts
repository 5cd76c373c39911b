import type { ChatTraits, ModelTraits } from '../inference/model-traits.ts';
import { serviceQuirkFields, type ServiceQuirks } from './upstream-services.ts';

/**
 * Differences of a server or model from the usual traits, by name. Traits of chat completions are beside the others,
 * because no two have the same name.
 */
export type Quirks = Partial<Omit<ModelTraits, 'chat' | 'converse'>> & Partial<ChatTraits> & ServiceQuirks & ServerQuirks;

/** Settings of a server that apply to all its models. */
type ServerQuirks = {
  /** Whether it executes a request only once if it is repeated with the same `idempotency-key`. */
  readonly idempotencyKeys?: boolean;
  /**
   * Whether it accepts tool calls without a type, image addresses as plain strings and schemas without names, as its
   * own clients write them.
   */
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
  thinksInStreamsOnly: true,
  reasoningHistoryField: true,
  callIds: true,
  acceptsTopK: true,
  acceptsLogprobs: true,
} satisfies Record<keyof ChatTraits, true>;

/** Applies quirks to traits: a quirk overrides its trait, the others are unchanged. */
export function applyQuirks(traits: ModelTraits, quirks: Quirks): ModelTraits {
  const entries = Object.entries(quirks).filter(([name]) => !Object.hasOwn(serverNames, name) && !Object.hasOwn(serviceQuirkFields, name));
  return {
    ...traits,
    ...Object.fromEntries(entries.filter(([name]) => !Object.hasOwn(chatNames, name))),
    chat: { ...traits.chat, ...Object.fromEntries(entries.filter(([name]) => Object.hasOwn(chatNames, name))) },
  };
}
