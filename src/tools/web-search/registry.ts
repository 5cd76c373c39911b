import { brave } from './providers/brave.ts';
import { exa } from './providers/exa.ts';
import { searxng } from './providers/searxng.ts';
import { serper } from './providers/serper.ts';
import { tavily } from './providers/tavily.ts';
import type { SearchProvider, SearchProviderId } from './search-provider.ts';

/** All search services that can be configured. */
export const searchProviders: Readonly<Record<SearchProviderId, SearchProvider>> = { searxng, brave, tavily, exa, serper };
