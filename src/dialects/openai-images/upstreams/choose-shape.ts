import type { ImageRequest, ImageSize } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';

/** The shape that is wanted, as width divided by height; undefined where the upstream may choose. */
function wantedRatio({ size, aspectRatio }: Pick<ImageRequest, 'size' | 'aspectRatio'>): number | undefined {
  return aspectRatio === undefined ? size && size.width / size.height : parseRatio(aspectRatio);
}

/** The number that a shape such as `19.5:9` is; undefined where it has no extent. */
function parseRatio(text: string): number | undefined {
  const [width = 0, height = 0] = text.split(':').map(Number);
  return width > 0 && height > 0 ? width / height : undefined;
}

const distance = (one: number, other: number): number => Math.abs(Math.log(one / other));

/** One of a list that is nearest to a shape. */
function nearest<Shape>(shapes: readonly Shape[], ratioOf: (shape: Shape) => number, wanted: number): Shape | undefined {
  let best: Shape | undefined;
  for (const shape of shapes) if (best === undefined || distance(ratioOf(shape), wanted) < distance(ratioOf(best), wanted)) best = shape;
  return best;
}

/** Chooses among the shapes of an upstream that takes no sizes, and notes what became of a size. */
export function chooseRatio(request: ImageRequest, ratios: readonly string[], notes: FieldNotes): string | undefined {
  const wanted = wantedRatio(request);
  if (wanted === undefined) return undefined;
  const ratio = nearest(ratios, (text) => parseRatio(text) ?? 1, wanted);
  if (ratio === undefined) return undefined;
  if (request.aspectRatio === undefined)
    notes.adapted('size', `pictures of this model have a shape and a class of size: it is asked for ${ratio}`);
  else if (ratio !== request.aspectRatio) notes.adapted('aspect_ratio', `the model makes other shapes, of which ${ratio} is nearest`);
  return ratio;
}

/** Chooses among the sizes of an upstream that takes no shapes. */
export function chooseSize(request: ImageRequest, sizes: readonly ImageSize[], notes: FieldNotes): ImageSize | undefined {
  if (request.size !== undefined) return request.size;
  const wanted = wantedRatio(request);
  if (wanted === undefined) return undefined;
  const size = nearest(sizes, ({ width, height }) => width / height, wanted);
  if (size !== undefined) notes.adapted('aspect_ratio', `the model takes sizes, of which ${writeSize(size)} is nearest`);
  return size;
}

export const writeSize = ({ width, height }: ImageSize): string => `${width}x${height}`;

/** Long edges up to which a size is of a class. 1K pictures that are not square have edges beyond 1,024. */
const classes = [
  ['1k', 1600],
  ['2k', 3000],
] as const;

/** The class of size that is wanted: as the client names it, or by its size. Undefined where it says neither. */
export function chooseResolution({ resolution, size }: Pick<ImageRequest, 'resolution' | 'size'>): string | undefined {
  if (resolution !== undefined || size === undefined) return resolution;
  const edge = Math.max(size.width, size.height);
  return classes.find(([, edgeMax]) => edge <= edgeMax)?.[0] ?? '4k';
}
