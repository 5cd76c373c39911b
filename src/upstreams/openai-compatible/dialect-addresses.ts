import { locateGenerateContent } from '../generate-content-interface.ts';
import type { DialectAddress } from '../upstream-vendor.ts';

type Differences = Pick<DialectAddress, 'keyHeader' | 'countsTokens'>;

/** Chat completions below a path. */
export const chatAt = (path: string): DialectAddress => ({ dialect: 'openai-chat', path });

/** Responses below a path. */
export const responsesAt = (path: string): DialectAddress => ({ dialect: 'openai-responses', path });

/** Messages below a path that ends in `/v1`, to which Anthropic's SDK adds `/messages`. */
export const messagesAt = (path: string, differs: Differences = {}): DialectAddress => ({
  dialect: 'anthropic-messages',
  path,
  ...differs,
});

/** Generate-content of a gateway, whose SDK adds `/v1beta` to the origin. */
export const generateContentAt = (path: string): DialectAddress => ({
  dialect: 'gemini-generate-content',
  path,
  keyHeader: 'x-goog-api-key',
  countsTokens: true,
  locate: locateGenerateContent,
});
