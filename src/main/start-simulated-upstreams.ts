import type { ConfiguredUpstream } from './config/config-schema.ts';

/** Starts the simulated vendors, which `opened` closes again, and says how each is reached. */
export async function startSimulatedUpstreams(opened: AsyncDisposableStack): Promise<Readonly<Record<string, ConfiguredUpstream>>> {
  // Loaded only where it serves: a production gateway never reads a line of it.
  const { startSimulator } = await import('weir-simulator');
  const simulator = await startSimulator({});
  opened.defer(() => simulator.close());
  const vendors = ['anthropic', 'openai', 'gemini', 'xai'] as const;
  return Object.fromEntries(
    vendors.map((vendor) => [
      `simulated-${vendor}`,
      { vendor, baseUrl: simulator.addresses[vendor], apiKey: 'simulated', forwardHeaders: ['x-simulator-*'] },
    ]),
  );
}
