import type { UpstreamRoute } from './upstream-route.ts';

/** `gemini-x` and `models/gemini-x` are the same model. Tuned models have a collection of their own. */
export function generateContentModelPath(model: string): string {
  const named = model.includes('/') ? model : `models/${model}`;
  return named
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/');
}

/** Returns the paths of generate-content below the origin. They are the same wherever the Gemini API is imitated. */
export function locateGenerateContent({ dialect, operation, upstreamModel, framing }: UpstreamRoute): string | undefined {
  if (dialect !== 'gemini-generate-content') return undefined;
  const model = `/v1beta/${generateContentModelPath(upstreamModel)}`;
  if (operation === 'count-tokens') return `${model}:countTokens`;
  if (framing === undefined) return `${model}:generateContent`;
  return framing === 'sse' ? `${model}:streamGenerateContent?alt=sse` : `${model}:streamGenerateContent`;
}
