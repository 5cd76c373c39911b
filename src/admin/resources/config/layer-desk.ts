import type { PriceBookStore, PublishedPriceBook } from '../../../billing/price-books/price-book-store.ts';
import type { ConfigLayer, ConfigLayerStore } from '../../../control/layers/config-layer.ts';
import type { LayerSealer } from '../../../control/layers/layer-seal.ts';
import type { LayerCheck } from '../../../control/layers/publish-layer.ts';
import type { NodeState } from '../../../control/nodes/node-state.ts';
import type { ListServices } from '../list-services.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import type { UsageServices } from '../usage/usage-operations.ts';

/** The configuration of this program, as gateways with it use a layer. The file is read each time. */
export type LayerDesk = {
  /** Whether this program publishes layers (`console.editConfig`). */
  readonly isOn: () => boolean;
  /**
   * Checks a document without secrets beside the file, and the upstreams that running gateways have.
   * @returns problems, and models that have targets now and would have none; they may be unused
   * @throws LayerError if the file of this program is invalid
   */
  readonly check: (
    document: unknown,
    around: { readonly published: PublishedPriceBook | undefined; readonly nodes: readonly NodeState[] },
  ) => LayerCheck;
  /** The file and a layer as one file. Secrets are names of variables. */
  readonly exportFile: (layer: ConfigLayer | undefined) => string;
};

export type LayerServices = ControlServices &
  ListServices &
  UsageServices & {
    readonly configLayers: ConfigLayerStore;
    /** Seals secrets, and cannot open them. */
    readonly layerSealer: () => LayerSealer;
    readonly layerDesk: LayerDesk;
    readonly priceBooks: Pick<PriceBookStore, 'newestPriceBook' | 'findPriceBook'>;
  };
