/** The dialects of clients. Upstreams speak them too. */
export type DialectId = 'anthropic-messages' | 'openai-responses' | 'openai-chat' | 'gemini-generate-content';

/** The dialects of upstreams: those of clients, and those that only upstreams speak. */
export type UpstreamDialectId = DialectId | 'bedrock-converse';

/**
 * `generate` requests a reply and `compact` a shorter conversation; both are billed. `count-tokens` requests a count
 * and is free.
 */
export type Operation = 'generate' | 'compact' | 'count-tokens';

/**
 * How strictly bounds are checked where real clients exceed the contract. `compatible` accepts what the vendor accepts;
 * `documented` enforces the contract to the letter. See docs/decisions/2026-11-20-validation-modes.md.
 */
export type ValidationMode = 'compatible' | 'documented';
