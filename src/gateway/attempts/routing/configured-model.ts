import type { Target } from './target.ts';
import type { ReplyCheck } from '../../settings/call-settings.ts';
import type { ToolModes } from '../../settings/tool-settings.ts';
import type { Balance, ResponseState, StopSequences } from './model-options.ts';

/** A model that the configuration names. */
export type ConfiguredModel = {
  readonly name: string;
  readonly targets: readonly Target[];
  /** Whether the configuration sets priorities. Otherwise targets that speak the caller's dialect come before the others. */
  readonly ordered?: boolean;
  /** Absent: `conversation`, and targets of one priority that speak the caller's dialect come before the others of it. */
  readonly balance?: Balance;
  /** Absent: `auto`. */
  readonly responseState?: ResponseState;
  /** Absent: `upstream`. */
  readonly stopSequences?: StopSequences;
  /** Whether its replies are checked against schemas. Absent: as the settings say. */
  readonly replyCheck?: ReplyCheck;
  /** Who runs its built-in tools. Absent: as the settings say. */
  readonly toolModes?: ToolModes;
};
