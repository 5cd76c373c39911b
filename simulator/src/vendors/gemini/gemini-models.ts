import type { JsonRecord } from '../../simulated-vendor.ts';

const names = [
  'gemini-3.8-flash',
  'gemini-3.5-flash',
  'gemini-3.5-flash-lite',
  'gemini-3.1-pro-preview',
  'gemini-3-pro-preview',
  'gemini-3-flash-preview',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
  'gemini-2.5-flash-lite',
  'gemini-2.0-flash',
] as const;

/** Describes a model. Unlisted models have a similar description, because the simulator answers for them too. */
export function writeModel(name: string): JsonRecord {
  return {
    name: `models/${name}`,
    version: '001',
    displayName: `Simulated ${name}`,
    description: 'A simulated model.',
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
    thinking: /^gemini-(2\.5|[3-9]|\d\d)/.test(name),
  };
}

/** One page of the models. The last one has no token of a next page. */
export function listModels(pageSize: number, pageToken: string): JsonRecord {
  const start = pageToken === '' ? 0 : Number.parseInt(pageToken.replace(/^page-/, ''), 10);
  const page = names.slice(start, start + pageSize);
  const next = start + pageSize;
  return { models: page.map(writeModel), ...(next < names.length && { nextPageToken: `page-${next}` }) };
}
