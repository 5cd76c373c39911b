import { tokensPerMedia } from '../../count-tokens.ts';
import type { JsonRecord, PlannedUsage } from '../../simulated-vendor.ts';
import { mediaTypes } from './generate-content-plan.ts';
import type { GenerateContentRequest } from './generate-content-schema.ts';

/**
 * Tokens that the output of a built-in tool adds to the prompt; they are subtracted from the planned input, so that
 * sums stay correct.
 */
const toolUseTokens = 8;

/** The output generated so far. Thoughts are beside the candidate's tokens, not among them. */
export type GeneratedTokens = { readonly candidateTokens: number; readonly thoughtTokens: number };

/** Writes the usage of a reply, or of a stream up to a chunk: counts of zero are omitted, as by the vendor. */
export function writeUsage(body: GenerateContentRequest, usage: PlannedUsage, generated: GeneratedTokens): JsonRecord {
  const inputTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const usesTool = (body.tools ?? []).some((tool) => tool.codeExecution !== undefined || tool.urlContext !== undefined);
  const toolTokens = usesTool ? Math.min(toolUseTokens, Math.floor(inputTokens / 2)) : 0;
  const promptTokens = inputTokens - toolTokens;
  const { candidateTokens, thoughtTokens } = generated;
  return {
    promptTokenCount: promptTokens,
    ...(candidateTokens > 0 && { candidatesTokenCount: candidateTokens }),
    totalTokenCount: inputTokens + candidateTokens + thoughtTokens,
    ...(usage.cacheReadTokens > 0 && {
      cachedContentTokenCount: usage.cacheReadTokens,
      cacheTokensDetails: [{ modality: 'TEXT', tokenCount: usage.cacheReadTokens }],
    }),
    promptTokensDetails: writePromptDetails(body, promptTokens),
    ...(toolTokens > 0 && {
      toolUsePromptTokenCount: toolTokens,
      toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: toolTokens }],
    }),
    ...(thoughtTokens > 0 && { thoughtsTokenCount: thoughtTokens }),
    ...(body.serviceTier !== undefined && body.serviceTier !== 'unspecified' && { serviceTier: body.serviceTier }),
  };
}

/** Splits the tokens of a prompt by modality. */
export function writePromptDetails(body: GenerateContentRequest, promptTokens: number): JsonRecord[] {
  const counts = new Map<string, number>();
  for (const type of mediaTypes(body)) counts.set(modalityOf(type), (counts.get(modalityOf(type)) ?? 0) + tokensPerMedia);
  const mediaTokens = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const details: JsonRecord[] = [{ modality: 'TEXT', tokenCount: Math.max(0, promptTokens - mediaTokens) }];
  for (const [modality, tokenCount] of counts) details.push({ modality, tokenCount });
  return details;
}

function modalityOf(mimeType: string): string {
  const kind = mimeType.split('/')[0];
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind.toUpperCase() : 'DOCUMENT';
}
