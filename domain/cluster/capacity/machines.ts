// Selects the machines of a launch, from the cluster's requirements without unavailable offers. The selection is written into the launch before the
// call, so a repeated launch requests the same machines.
import { unavailableOfferMs } from '../limits.ts';
import type { Market } from '../../offers/offer.ts';
import type {
  LaunchPlacement,
  MachineSettings,
  RolePlacement,
  SpotPolicy,
  UnavailableOffer,
} from './machine-settings.ts';
import type { ClusterState, LaunchFailure } from '../state.ts';

/** Maximum number of instances in one launch. AWS accepts 1,000, but a large call that fails is expensive to repeat. */
export const maxSlotsPerLaunch = 500;

/**
 * Returns the placement of a launch, or null while no offer is available; `availableAgainAtMs` then returns the time of the next attempt. Existing
 * instances fix the zone, unless the cluster may use several zones.
 */
export function placeLaunch(
  state: ClusterState,
  machines: MachineSettings,
  roles: ReadonlySet<'head' | 'worker'>,
  nowMs: number,
): LaunchPlacement | null {
  const oneZone = !machines.allowCrossZone;
  const zones = oneZone ? (livingZone(state) ?? machines.zones) : machines.zones;
  const { headTypes, workerTypes, spotPolicy, ingress, tags } = machines;
  const headShape = headShapeOf(machines);
  const head = placeRole(state, { shape: headShape, types: headTypes, markets: ['on-demand'], zones }, nowMs);
  const markets = marketsOf(spotPolicy);
  const worker = placeRole(state, { shape: workerShapeOf(machines), types: workerTypes, markets, zones }, nowMs);
  if ((roles.has('head') && head === null) || (roles.has('worker') && worker === null)) return null;
  const nothing: RolePlacement = { ...headShape, types: [], market: 'on-demand', zones: [] };
  return {
    head: head ?? nothing,
    worker: worker ?? nothing,
    oneZone,
    ...(ingress === undefined ? {} : { ingress }),
    ...(tags === undefined ? {} : { tags }),
  };
}

/** When the first unavailable offer may be requested again; null when none is stored. */
export function availableAgainAtMs(state: ClusterState, nowMs: number): number | null {
  const ahead = state.unavailable.map(({ untilMs }) => untilMs).filter((untilMs) => untilMs > nowMs);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

/** Stores the offers that a failed launch found unavailable; the scope of the failure decides how many are excluded. */
export function noteUnavailable(state: ClusterState, failure: LaunchFailure, nowMs: number): void {
  const { market, offer, zone, scope } = failure;
  const untilMs = nowMs + unavailableOfferMs;
  const found =
    scope === 'offer'
      ? { market, type: offer === '' ? '*' : offer, zone: zone === '' ? '*' : zone, untilMs }
      : scope === 'zone' || scope === 'subnet'
        ? { market, type: '*', zone: zone === '' ? '*' : zone, untilMs }
        : scope === 'market' || scope === 'quota'
          ? { market, type: '*', zone: '*', untilMs }
          : null;
  if (found === null) return;
  const others = state.unavailable.filter((each) => each.untilMs > nowMs && !isSame(each, found));
  state.unavailable = [...others, found];
}

const isSame = (a: UnavailableOffer, b: UnavailableOffer): boolean =>
  a.market === b.market && a.type === b.type && a.zone === b.zone;

/** Markets in the order of attempts. */
export function marketsOf(policy: SpotPolicy): Market[] {
  if (policy === 'on-demand') return ['on-demand'];
  return policy === 'spot' ? ['spot'] : ['spot', 'on-demand'];
}

type Shape = Pick<RolePlacement, 'architecture' | 'diskGib' | 'diskThroughput'>;

interface Sought {
  shape: Shape;
  types: readonly string[];
  markets: readonly Market[];
  zones: readonly string[];
}

/** Uses the first market with an available offer: types that have a zone, and zones that have a type. */
function placeRole(state: ClusterState, { shape, types, markets, zones }: Sought, nowMs: number): RolePlacement | null {
  for (const market of markets) {
    const mayHave = (type: string, zone: string): boolean => !isUnavailable(state, market, type, zone, nowMs);
    const left = types.filter((type) => zones.some((zone) => mayHave(type, zone)));
    const places = zones.filter((zone) => left.some((type) => mayHave(type, zone)));
    if (left.length > 0) return { ...shape, types: left, market, zones: places };
  }
  return null;
}

function isUnavailable(state: ClusterState, market: Market, type: string, zone: string, nowMs: number): boolean {
  return state.unavailable.some(
    (each) =>
      each.untilMs > nowMs &&
      each.market === market &&
      (each.type === '*' || each.type === type) &&
      (each.zone === '*' || each.zone === zone),
  );
}

function livingZone(state: ClusterState): string[] | null {
  const living = state.instances.find(({ state: is, zone }) => is !== 'stopping' && is !== 'error' && zone !== '');
  return living === undefined ? null : [living.zone];
}

const headShapeOf = ({ architecture, diskGib, headDiskGib }: MachineSettings): Shape => ({
  architecture,
  diskGib: headDiskGib ?? diskGib,
});

const workerShapeOf = ({ architecture, diskGib, workerDiskThroughput }: MachineSettings): Shape => ({
  architecture,
  diskGib,
  ...(workerDiskThroughput === undefined ? {} : { diskThroughput: workerDiskThroughput }),
});
