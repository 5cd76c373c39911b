import type { Payer } from '../../credits/credit-desk.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** Other work in the processes of a world, over the same books. */
export type PeerProcess = {
  /** A process has started an incarnation. */
  readonly begin: (process: SimulatedProcess) => void;
  /** The incarnation of a process ends without warning. */
  readonly die: (process: SimulatedProcess) => void;
  /** Works in a process for a payer. */
  readonly act: (process: SimulatedProcess, payer: Payer) => void;
  readonly isOver: () => boolean;
  /**
   * The amount that a process counts as spent although the store may not have recorded it, in nano-USD: the greatest
   * possible difference of its books.
   */
  readonly doubtful: (nodeId: string) => bigint;
};
