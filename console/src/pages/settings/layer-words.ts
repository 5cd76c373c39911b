import { keepPreviousData, useQuery } from '@tanstack/react-query';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';

export type Layer = Reply<'config.layers.list'>['items'][number];

/** The reason of a layer, or which one it published again. */
export const noteOf = ({ note, restored }: Layer): string => note ?? (restored === null ? '—' : `layer ${restored} again`);

/**
 * One layer with its document. It never changes, but for what gateways do with it.
 * @param keeps whether the one before is answered while another one is read
 */
export const useLayer = (number: number | undefined, keeps = false) =>
  useQuery({
    ...question('config.layers.get', { params: { number: String(number ?? 0) } }),
    enabled: number !== undefined,
    ...(keeps && { placeholderData: keepPreviousData }),
  });
