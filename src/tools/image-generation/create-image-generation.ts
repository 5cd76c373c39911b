import { callImagesMax, imageRowId } from '../../billing/ledger/row-ids.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { ImageInput } from '../../inference/image.ts';
import type { FunctionTool, ImageGenerationTool, ServerToolPart } from '../../inference/inference-request.ts';
import { countOf, filledText, itemsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { Logger } from '../../platform/log.ts';
import type { GatewayTool, ToolOutcome, ToolOwner, ToolRun } from '../gateway-tool.ts';
import type { MakeImage, ToolImage } from './make-image.ts';

/** Image models accept at most this number of source images. */
const sourcesMax = 16;

const prompt = { type: 'string', description: 'Everything that the image shows, and its style. The image model sees no other text.' };

const numbers = {
  type: 'array',
  items: { type: 'integer', minimum: 1 },
  maxItems: sourcesMax,
  description:
    'Numbers of the images of the conversation to start from, counted from 1 in the order in which they appear; ' +
    'images that you made follow them. Leave it out to make a new image.',
};

function offerOf({ action }: ImageGenerationTool): FunctionTool {
  return {
    kind: 'function',
    name: 'generate_image',
    description:
      'Makes an image, which is shown to the user at once: do not describe or link it. ' +
      (action === 'generate' ? 'Use it when an image is wanted.' : 'Use it when an image is wanted, or when one is to be changed.'),
    parameters: {
      type: 'object',
      properties: { prompt, ...(action !== 'generate' && { images: numbers }) },
      required: ['prompt'],
      additionalProperties: false,
    },
  };
}

/**
 * Creates the image tool of one request. Each image is a call of its own in the books of the user, beneath the call
 * that requested it.
 * @param options.make undefined if no image model is configured
 */
export function createImageGeneration(options: {
  readonly make: MakeImage | undefined;
  readonly logger: Logger;
}): (tool: ImageGenerationTool, owner: ToolOwner) => GatewayTool {
  const { make, logger } = options;
  return (tool, owner) => {
    if (make === undefined) {
      const param = tool.path ?? 'tools';
      const advice = 'its operator can name an image model in tools.imageGeneration.model';
      throw new GatewayError('tool_unavailable', `${param}: image generation is not configured on this gateway: ${advice}.`, { param });
    }
    const requestImage = createRequests(tool, owner);
    const made: ImageInput[] = [];
    return {
      kind: 'image-generation',
      offer: offerOf(tool),
      readInput: (args) => [filledText(args.prompt) ?? ''].filter((text) => text !== ''),
      run: async (run) => {
        const known = [...(run.images ?? []), ...made];
        const order = requestImage(run, known);
        if ('failure' in order) return fail(order.answer, order.failure);
        try {
          const { image, revisedPrompt, costNanoUsd } = await make(order);
          made.push({ kind: 'inline', mediaType: image.mediaType ?? 'image/png', data: image.data });
          const number = (run.images?.length ?? 0) + made.length;
          const answer = `The image is made and shown to the user. It is image ${number} of the conversation.`;
          const finding = { image, ...(revisedPrompt !== undefined && { text: revisedPrompt }) };
          return { answer, sources: [], shown: { results: [finding] }, usage: {}, costNanoUsd };
        } catch (error) {
          if (!(error instanceof GatewayError)) logger.warn({ err: error }, 'image of a tool failed');
          const reason = error instanceof GatewayError ? `: ${error.message}` : '.';
          return fail(`The image could not be made${reason}`, 'unavailable');
        }
      },
    };
  };
}

type Refusal = { readonly answer: string; readonly failure: NonNullable<ServerToolPart['failure']> };

function fail(answer: string, failure: Refusal['failure']): ToolOutcome {
  return { answer, sources: [], shown: { failed: true, failure }, usage: {} };
}

/** Numbers the images of a call, and reads what its model requests. */
function createRequests(
  { settings, action, partialImages }: ImageGenerationTool,
  owner: ToolOwner,
): (run: ToolRun, known: readonly ImageInput[]) => ToolImage | Refusal {
  const { callId } = owner;
  let images = 0;
  return (run, known) => {
    const text = filledText(run.arguments.prompt);
    if (text === undefined) return { answer: 'No image was made: "prompt" must be a text.', failure: 'invalid-input' };
    const sources = action === 'generate' ? [] : readSources(run.arguments, known, action === 'edit');
    if (sources === undefined) {
      const answer = `No image was made: "images" must name images of the conversation, which has ${known.length}.`;
      return { answer, failure: 'invalid-input' };
    }
    images += 1;
    if (callId !== undefined && images > callImagesMax) {
      return { answer: 'No further image can be made in this reply.', failure: 'limit-reached' };
    }
    const { mask, ...others } = settings;
    const isEdit = sources.length > 0;
    const isStream = partialImages > 0 && run.onPartialImage !== undefined;
    return {
      request: {
        ...others,
        operation: isEdit ? 'edit' : 'generate',
        prompt: text,
        count: 1,
        delivery: 'base64',
        stream: isStream,
        partialImages: isStream ? partialImages : 0,
        sources,
        ...(isEdit && mask !== undefined && { mask }),
        otherFields: {},
      },
      owner,
      part: callId === undefined ? undefined : { parentCallId: callId, rowId: imageRowId(callId, images) },
      onPartial: (number, image) => run.onPartialImage?.(number, image),
      signal: run.signal,
    };
  };
}

/** The images that the model names; the last one if it must name some and names none. Undefined if it names others. */
function readSources(args: JsonObject, known: readonly ImageInput[], mustEdit: boolean): readonly ImageInput[] | undefined {
  const named = itemsOf(args.images);
  if (named.length === 0) return mustEdit ? (known.length === 0 ? undefined : known.slice(-1)) : [];
  const sources = named.slice(0, sourcesMax).map((number) => known[(countOf(number) ?? 0) - 1]);
  return sources.every((source) => source !== undefined) ? sources : undefined;
}
