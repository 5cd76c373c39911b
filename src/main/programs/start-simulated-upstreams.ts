import type { ConfiguredUpstream } from '../config/config-schema.ts';
import type { SimulatedSearch } from '../assembly/tools/open-web-search.ts';

/** What is simulated where nothing is configured. */
export type Simulated = { readonly upstreams: Readonly<Record<string, ConfiguredUpstream>>; readonly search: SimulatedSearch };

/** Starts the simulated vendors, which `opened` closes again, and says how each and the simulated web are reached. */
export async function startSimulatedUpstreams(opened: AsyncDisposableStack): Promise<Simulated> {
  // Loaded only where it serves: a production gateway never reads a line of it.
  const { startSimulator } = await import('weir-simulator');
  const simulator = await startSimulator({});
  opened.defer(() => simulator.close());
  const vendors = ['anthropic', 'openai', 'gemini', 'xai'] as const;
  const upstreams = Object.fromEntries<ConfiguredUpstream>(
    vendors.map((vendor) => [
      `simulated-${vendor}`,
      { vendor, baseUrl: simulator.addresses[vendor], apiKey: 'simulated', forwardHeaders: ['x-simulator-*'] },
    ]),
  );
  return { upstreams, search: simulator.search };
}
