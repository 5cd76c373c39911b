import type { TranslationCase } from '../translation-case.ts';
import { conversationCases } from './conversation.ts';
import { edgeCases } from './edges.ts';
import { mediaCases } from './media.ts';
import { oddTurnCases } from './odd-turns.ts';
import { outputFormatCases } from './output-format.ts';
import { replyCases } from './replies.ts';
import { settingCases } from './settings.ts';
import { spellingCases } from './spellings.ts';
import { thinkingCases } from './thinking.ts';
import { toolResultCases } from './tool-results.ts';
import { toolCases } from './tools.ts';
import { vendorCases } from './vendor-things.ts';

/** All cases for each pair of dialects; the rows of docs/reference/translation.md in their order. */
export const translationCases: readonly TranslationCase[] = [
  ...conversationCases,
  ...oddTurnCases,
  ...spellingCases,
  ...mediaCases,
  ...toolCases,
  ...toolResultCases,
  ...thinkingCases,
  ...outputFormatCases,
  ...settingCases,
  ...edgeCases,
  ...vendorCases,
  ...replyCases,
];
