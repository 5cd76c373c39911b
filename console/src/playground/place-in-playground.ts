import { paths, type Place } from '../paths.ts';

/** The interfaces of chats by their names in the books. The page of a call needs no more of the playground. */
const lanes: Readonly<Record<string, string>> = {
  'anthropic-messages': 'messages',
  'openai-responses': 'responses',
  'gemini-generate-content': 'generate-content',
  'openai-chat': 'chat-completions',
};
const kinds: Readonly<Record<string, string>> = {
  'openai-embeddings': 'embeddings',
  'openai-images': 'images',
  'video-generations': 'video',
  'openai-videos': 'video',
  'xai-videos': 'video',
};

/** Where a call like this one can be made again; its texts are not kept. Undefined for interfaces without such a page. */
export function placeInPlayground(call: {
  readonly dialect: string;
  readonly model: string;
  readonly stream: boolean;
  readonly user: string;
}): Place | undefined {
  const { dialect, model, stream, user } = call;
  const lane = lanes[dialect];
  if (lane !== undefined) return { to: paths.playground, search: { lane: `${lane}${stream ? '' : ';stream=0'}:${model}`, user } };
  const kind = kinds[dialect];
  return kind === undefined ? undefined : { to: paths.playground, search: { kind, model, user } };
}
