import { useCallback } from 'react';

import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';

/** The model that the address names; empty for none. */
export function useModel(): readonly [string, (model: string) => void] {
  const [search, change] = useAddress();
  // The address changes with each answer of the router; the function is the same for those who wait for it.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  return [one(search, 'model') ?? '', useCallback((model: string) => change({ model: model === '' ? undefined : model }, true), [])];
}
