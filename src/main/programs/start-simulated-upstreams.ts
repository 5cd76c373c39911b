import type { ConfiguredUpstream } from '../config/config-schema.ts';
import type { SimulatedSearch } from '../assembly/tools/open-web-search.ts';

/** The simulated services that are used if nothing is configured. */
export type Simulated = { readonly upstreams: Readonly<Record<string, ConfiguredUpstream>>; readonly search: SimulatedSearch };

/**
 * Starts the simulated vendors, and returns the addresses of the vendors and of the simulated web. Closed by `opened`.
 */
export async function startSimulatedUpstreams(opened: AsyncDisposableStack): Promise<Simulated> {
  // Loaded only when it serves, so that a production gateway never loads it.
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
