import type { Payer } from '../../credits/credit-desk.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** What else goes on in the processes of a world, over the same books. */
export type PeerProcess = {
  /** A process has begun a life. */
  readonly begin: (process: SimulatedProcess) => void;
  /** The life of a process ends without warning. */
  readonly die: (process: SimulatedProcess) => void;
  /** Does something in a process for a payer. */
  readonly act: (process: SimulatedProcess, payer: Payer) => void;
  readonly isOver: () => boolean;
  /** What a process has counted as spent because the store did not say whether it had recorded it, in nano-USD: the most that its books may differ by. */
  readonly doubtful: (nodeId: string) => bigint;
};
