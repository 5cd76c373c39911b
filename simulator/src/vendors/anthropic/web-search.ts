import type { JsonRecord, ReplyPlan } from '../../simulated-vendor.ts';
import type { MessagesRequest } from './messages-schema.ts';

const source = { url: 'https://simulated.example/weir', title: 'Simulated source' } as const;
const queryCharactersMax = 60;

/** A search that the simulated vendor runs before it answers. */
export type WebSearch = {
  readonly use: JsonRecord;
  readonly input: JsonRecord;
  readonly result: JsonRecord;
  /** The first sentence, which cites the result, and the rest. */
  readonly cited: string;
  readonly citation: JsonRecord;
  readonly rest: string;
};

/** The search of a reply; undefined without the tool or without text. Functions are called without a search. */
export function planSearch(body: MessagesRequest, plan: ReplyPlan, query: string): WebSearch | undefined {
  const isOffered = (body.tools ?? []).some((tool) => 'type' in tool && String(tool.type).startsWith('web_search'));
  const { text = '' } = plan;
  if (!isOffered || body.tool_choice?.type === 'none' || plan.toolCalls.length > 0 || text === '') return undefined;
  const id = `srvtoolu_${plan.id}`;
  const cited = /^[^.!?]*[.!?]?/.exec(text)?.[0] ?? text;
  const found = { type: 'web_search_result', ...source, encrypted_content: 'c2ltdWxhdGVk', page_age: null };
  return {
    use: { type: 'server_tool_use', id, name: 'web_search', input: {}, caller: { type: 'direct' } },
    input: { query: Array.from(query).slice(0, queryCharactersMax).join('') },
    result: { type: 'web_search_tool_result', tool_use_id: id, content: [found], caller: { type: 'direct' } },
    cited,
    citation: {
      type: 'web_search_result_location',
      ...source,
      encrypted_index: 'c2ltdWxhdGVk',
      cited_text: 'Simulated words of the source.',
    },
    rest: text.slice(cited.length),
  };
}

/** The blocks of a whole reply with a search. */
export function writeSearchBlocks({ use, input, result, cited, citation, rest }: WebSearch): JsonRecord[] {
  const text: JsonRecord[] = [{ type: 'text', text: cited, citations: [citation] }];
  return [{ ...use, input }, result, ...text, ...(rest === '' ? [] : [{ type: 'text', text: rest }])];
}
