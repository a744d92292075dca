// An instance as the provider names it in its answer to a launch.
import type { InstancePrice } from '../../cost/interval.ts';

export interface LaunchedInstance {
  id: string;
  slot: number;
  offer: string;
  zone: string;
  /** The current price; absent where the provider knows none. */
  price?: InstancePrice;
  /** The price may change while the instance exists. */
  hasLaterPrices?: true;
}
