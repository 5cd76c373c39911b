import type { BuiltInToolKind } from '../../inference/inference-request.ts';

/**
 * Who runs a built-in tool for a model. `auto`: the vendor where each of the model's targets can, else the gateway; `native`: only the vendor;
 * `gateway`: only the gateway; `off`: nobody.
 */
type ToolMode = 'auto' | 'native' | 'gateway' | 'off';

/** Modes by kind of tool. Absent: `auto`. */
export type ToolModes = { readonly [Kind in BuiltInToolKind]?: ToolMode };

/** Who runs tools, and the bounds of those that the gateway runs for one call. */
export type ToolSettings = {
  /** How often the model may be asked. The last time it is offered none of the gateway's tools. */
  readonly roundsMax: number;
  /** How many calls of tools may run for one call. */
  readonly runsMax: number;
  /** What one call may cost before it is asked no more. Absent: no bound. */
  readonly costMaxNanoUsd?: bigint;
  /** How long one run of a tool may take. */
  readonly runMsMax: number;
  /** For models that have none of their own. */
  readonly modes?: ToolModes;
};

export const defaultTools: ToolSettings = { roundsMax: 10, runsMax: 64, runMsMax: 120_000 };
