import type { ImageRequest, ImageSize } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';

/** The requested shape as width divided by height. Undefined if the upstream may choose. */
function requestedRatioOf({ size, aspectRatio }: Pick<ImageRequest, 'size' | 'aspectRatio'>): number | undefined {
  return aspectRatio === undefined ? size && size.width / size.height : parseRatio(aspectRatio);
}

/** A shape such as `19.5:9` as a number. Undefined if a side is zero. */
function parseRatio(text: string): number | undefined {
  const [width = 0, height = 0] = text.split(':').map(Number);
  return width > 0 && height > 0 ? width / height : undefined;
}

const distance = (one: number, other: number): number => Math.abs(Math.log(one / other));

/** The item of a list that is nearest to a shape. */
function nearest<Shape>(shapes: readonly Shape[], ratioOf: (shape: Shape) => number, requestedRatio: number): Shape | undefined {
  let best: Shape | undefined;
  for (const shape of shapes)
    if (best === undefined || distance(ratioOf(shape), requestedRatio) < distance(ratioOf(best), requestedRatio)) best = shape;
  return best;
}

/** Chooses among the aspect ratios of an upstream that does not accept sizes, and notes a changed size. */
export function chooseRatio(request: ImageRequest, ratios: readonly string[], notes: FieldNotes): string | undefined {
  const requestedRatio = requestedRatioOf(request);
  if (requestedRatio === undefined) return undefined;
  const ratio = nearest(ratios, (text) => parseRatio(text) ?? 1, requestedRatio);
  if (ratio === undefined) return undefined;
  if (request.aspectRatio === undefined) notes.adapted('size', `the model accepts aspect ratios and size classes: ${ratio} is requested`);
  else if (ratio !== request.aspectRatio) notes.adapted('aspect_ratio', `the model supports other aspect ratios: ${ratio} is the nearest`);
  return ratio;
}

/** Chooses among the sizes of an upstream that does not accept aspect ratios. */
export function chooseSize(request: ImageRequest, sizes: readonly ImageSize[], notes: FieldNotes): ImageSize | undefined {
  if (request.size !== undefined) return request.size;
  const requestedRatio = requestedRatioOf(request);
  if (requestedRatio === undefined) return undefined;
  const size = nearest(sizes, ({ width, height }) => width / height, requestedRatio);
  if (size !== undefined) notes.adapted('aspect_ratio', `the model accepts sizes: ${writeSize(size)} is the nearest`);
  return size;
}

export const writeSize = ({ width, height }: ImageSize): string => `${width}x${height}`;

/** The largest long edge of each size class. 1K images that are not square have edges beyond 1,024. */
const classes = [
  ['1k', 1600],
  ['2k', 3000],
] as const;

/** The requested size class, from its name or from the size. Undefined if neither is present. */
export function chooseResolution({ resolution, size }: Pick<ImageRequest, 'resolution' | 'size'>): string | undefined {
  if (resolution !== undefined || size === undefined) return resolution;
  const edge = Math.max(size.width, size.height);
  return classes.find(([, edgeMax]) => edge <= edgeMax)?.[0] ?? '4k';
}
