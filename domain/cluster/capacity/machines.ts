// Which machines a launch requests, from the cluster's requirements and without unavailable offers. The decision is written into the
// launch before the call, so a repeated launch requests the same machines.
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

/** Instances in one launch; AWS takes 1,000, and a large call that fails is dear to repeat. */
export const maxSlotsPerLaunch = 500;

/**
 * What to ask for now, or null while there is nothing available: then `availableAgainAtMs` says when to try
 * again. Instances that live fix the zone, unless the cluster may cross zones.
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

/** When the first unavailable offering may be asked for again; null when none is remembered. */
export function availableAgainAtMs(state: ClusterState, nowMs: number): number | null {
  const ahead = state.unavailable.map(({ untilMs }) => untilMs).filter((untilMs) => untilMs > nowMs);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

/** Remembers what a launch failed on; the reach of a failure decides how much is left alone. */
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

/** In the order in which they are tried. */
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

/** On the first market that has anything: types with a zone that may have them, zones with a type. */
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
