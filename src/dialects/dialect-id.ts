export type DialectId = 'anthropic-messages' | 'openai-responses' | 'openai-chat' | 'gemini-generate-content';

/** `generate` asks for a reply and `compact` for a shorter conversation, both billed; `count-tokens` asks for a count and is free. */
export type Operation = 'generate' | 'compact' | 'count-tokens';

/**
 * How strictly bounds are read where the contract is narrower than what real clients send. `compatible` accepts what the vendor
 * accepts; `documented` enforces the contract to the letter. See docs/decisions/2026-11-20-validation-modes.md.
 */
export type ValidationMode = 'compatible' | 'documented';
