import type { SimulatedVendor } from './simulated-vendor.ts';
import { anthropic } from './vendors/anthropic/anthropic.ts';
import { gemini } from './vendors/gemini/gemini.ts';
import { openai } from './vendors/openai/openai.ts';
import { xai } from './vendors/xai/xai.ts';

/** Every simulated vendor, and the path that its SDKs append to an origin to make their base address. */
export const simulatedVendors: readonly { readonly vendor: SimulatedVendor; readonly basePath: string }[] = [
  { vendor: anthropic, basePath: '' },
  { vendor: openai, basePath: '/v1' },
  { vendor: gemini, basePath: '' },
  { vendor: xai, basePath: '/v1' },
];
