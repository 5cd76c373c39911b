import type { ImageInput, ImageRequest } from './image.ts';
import type { InferenceRequest, Part } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

/** Image settings beside the text of a chat. */
type RequestedSettings = Pick<ImageRequest, 'count' | 'aspectRatio' | 'resolution'>;

const sourcesMax = 16;

/**
 * Converts a chat request into an image request: the prompt is all of its text, the sources are all of its images.
 * Adds a translation note for every setting that image models do not support.
 * @throws GatewayError untranslatable_field
 */
export function imageOfChat(chat: InferenceRequest, settings: RequestedSettings, notes: TranslationNotes): ImageRequest {
  const { instructions, turns, model, endUser } = chat;
  if (instructions.length > 0) notes.adapted('instructions', 'the model takes one prompt: the instructions are its first paragraphs');
  if (turns.length > 1) notes.adapted('turns', 'the model takes one prompt: the text of all turns is joined');
  noteSettings(chat, notes);
  const texts = instructions.map(({ text }) => text);
  const sources: ImageInput[] = [];
  for (const part of turns.flatMap(({ parts }) => parts)) {
    const read = readPart(part, notes);
    if (typeof read === 'string') texts.push(read);
    else if (read !== undefined) sources.push(read);
  }
  const prompt = texts.filter((text) => text.trim() !== '').join('\n\n');
  if (prompt === '') notes.refuse('turns', 'no text describes the image');
  if (sources.length > sourcesMax) notes.refuse('turns', `the model takes at most ${sourcesMax} images, but got ${sources.length}`);
  return {
    operation: sources.length > 0 ? 'edit' : 'generate',
    requestedModel: model,
    prompt,
    ...settings,
    delivery: 'base64',
    stream: false,
    partialImages: 0,
    sources,
    ...(endUser !== undefined && { endUser }),
    otherFields: {},
  };
}

/** Reads a part as text or as a source image; undefined if it is dropped. */
function readPart(part: Part, notes: TranslationNotes): string | ImageInput | undefined {
  const field = { path: part.path, otherwise: 'turns' } as const;
  if (part.kind === 'text') return part.text;
  // Reasoning is only useful to the model that wrote it.
  if (part.kind === 'reasoning') return undefined;
  if (part.kind !== 'media') {
    notes.dropped(field, 'the model makes images from text and images only');
    return undefined;
  }
  const { source } = part;
  if (part.media !== 'image') return notes.refuse(field, 'the model takes no input other than text and images');
  if (source.kind === 'inline') return { kind: 'inline', mediaType: source.mediaType, data: source.data };
  if (source.kind === 'url') return { kind: 'url', url: source.url };
  return notes.refuse(field, 'the image is stored by another vendor: send it in the request');
}

/** Adds notes for settings that image models do not support. */
function noteSettings(chat: InferenceRequest, notes: TranslationNotes): void {
  const reason = 'image models do not support this setting';
  for (const field of ['temperature', 'topP', 'topK', 'seed', 'presencePenalty', 'frequencyPenalty'] as const)
    if (chat.sampling[field] !== undefined) notes.dropped(field, reason);
  for (const field of ['outputTokensMax', 'stopSequences', 'outputFormat', 'verbosity'] as const)
    if (chat[field] !== undefined) notes.dropped(field, reason);
  if (chat.tools.length > 0) notes.dropped('tools', 'image models use no tools');
  if (chat.reasoning !== undefined && chat.reasoning.mode !== 'off') notes.dropped('reasoning', reason);
  if (chat.serviceTier !== undefined && chat.serviceTier !== 'auto') notes.dropped('serviceTier', reason);
  const unnamed = chat.vendorFields.filter(({ weight }) => weight !== 'harmless').map(({ field }) => field);
  for (const path of [...unnamed, ...(chat.tokenLogprobs?.fields ?? [])]) notes.dropped({ path, otherwise: 'turns' }, reason);
}
