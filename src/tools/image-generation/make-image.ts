import type { ImageRequest, ShownImage } from '../../inference/image.ts';
import type { ToolOwner } from '../gateway-tool.ts';

/** An image that a tool requests, as a part of its call. */
export type ToolImage = {
  readonly request: Omit<ImageRequest, 'requestedModel'>;
  readonly owner: ToolOwner;
  /** The row of its call; absent if it belongs to no call. */
  readonly part: { readonly rowId: string; readonly parentCallId: string } | undefined;
  /** Receives unfinished images. */
  readonly onPartial: (number: number, image: ShownImage) => void;
  readonly signal: AbortSignal;
};

/** Makes an image with the configured model. @throws GatewayError */
export type MakeImage = (order: ToolImage) => Promise<{
  readonly image: ShownImage;
  readonly revisedPrompt: string | undefined;
  /** The cost in the books. */
  readonly costNanoUsd: bigint;
}>;
