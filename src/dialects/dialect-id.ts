export type DialectId = 'anthropic-messages' | 'openai-responses' | 'openai-chat' | 'gemini-generate-content';

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
