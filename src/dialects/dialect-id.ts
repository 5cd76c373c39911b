import type { StreamFraming } from '../platform/frames.ts';
import type { JsonObject } from '../platform/json/json-value.ts';

export type DialectId = 'anthropic-messages' | 'openai-responses' | 'openai-chat' | 'gemini-generate-content';

/** `generate` asks for a reply and `compact` for a shorter conversation, both billed; `count-tokens` asks for a count and is free. */
export type Operation = 'generate' | 'compact' | 'count-tokens';

/**
 * How strictly bounds are read where the contract is narrower than what real clients send. `compatible` accepts what the vendor
 * accepts; `documented` enforces the contract to the letter. See docs/decisions/2026-11-20-validation-modes.md.
 */
export type ValidationMode = 'compatible' | 'documented';

/** A request as it reached the gateway: the parsed body and what came in the address and the headers. */
export type WireRequest = {
  readonly operation: Operation;
  readonly body: JsonObject;
  /** Header names in lower case; repeated headers joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The model in the path, for dialects that put it there. */
  readonly pathModel?: string | undefined;
  /** The stream framing that the path or query asks for, for dialects that put it there. */
  readonly pathFraming?: StreamFraming | undefined;
};

/** One entry of a model list, as far as it is known. */
export type ListedModel = { readonly id: string; readonly displayName: string; readonly createdAtMs: number; readonly ownedBy: string };
