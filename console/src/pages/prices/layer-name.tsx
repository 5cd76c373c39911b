import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { placeOfLayer } from '../../paths.ts';

export type ListedPrice = Reply<'prices.list'>['items'][number];

/** A layer, as a link if it is a published book. */
export function LayerName({ layer }: { readonly layer: string }) {
  const place = placeOfLayer(layer);
  return place === undefined ? layer : <Link {...place}>{layer}</Link>;
}
