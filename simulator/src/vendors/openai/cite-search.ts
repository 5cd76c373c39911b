import type { JsonRecord, ReplyPlan } from '../../simulated-vendor.ts';
import type { ChatRequest } from './chat-schema.ts';

/**
 * Citations of a reply with a web search: the first sentence, in code points. Empty without a search tool or without
 * text.
 */
export function citeSearch(body: ChatRequest, plan: ReplyPlan): readonly JsonRecord[] {
  const { text = '' } = plan;
  if (body.web_search_options === undefined || body.web_search_options === null || text === '') return [];
  const sentence = /^[^.!?]*[.!?]?/.exec(text)?.[0] ?? text;
  const place = { start_index: 0, end_index: Array.from(sentence).length };
  return [{ type: 'url_citation', url_citation: { ...place, title: 'Simulated source', url: 'https://simulated.example/weir' } }];
}
