// Clusters whose resize requests are delivered late, in any order, or never, and whose reports arrive late: the reservation
// always covers the cluster's instances and its possible launches, and no more in the end.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { firstReservation, noteUsage, reserveShare, settleShare } from '../../../domain/quota/shares.ts';
import type { Reservation, ShareKind } from '../../../domain/quota/state.ts';
import { checkSimulations, describeShares, must, pick, type Met } from '../../builders/simulations.ts';

const subjects = ['grown', 'refused growth', 'overtaken', 'lost request', 'adaptive off', 'released'] as const;
type Subject = (typeof subjects)[number];

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('request'), adapt: fc.boolean(), instances: fc.nat(7) }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('deliver'), request: fc.nat(4), lost: fc.integer({ min: 0, max: 5 }) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('end one'), report: fc.option(fc.nat(3)) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('adapt'), to: fc.nat(9) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const plan = fc.record({
  first: fc.integer({ min: 1, max: 4 }),
  headVcpus: fc.constantFrom(1, 4),
  steps: fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

interface Report {
  instances: number;
  scale: number;
  adapt: number;
}

/** As its workflow: the newest request of each kind counts. */
interface Cluster {
  target: number;
  maximum: number;
  scale: number;
  adapt: number;
  /** Instances that exist, ending ones included. */
  running: number;
  /** In transit to the store. */
  reports: Report[];
  reported: Report | null;
}

interface Simulation {
  reservation: Reservation;
  cluster: Cluster;
  requests: { kind: ShareKind; seq: number; instances: number }[];
  headVcpus: number;
  met: Met<Subject>;
}

const limit = 6;

it('covers what a cluster has and may start, and nothing more once all has arrived', () => {
  const shares = checkSimulations({ plan, subjects, run }, { numRuns: 500 });
  console.log(`reservations: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});

function run({ first, headVcpus, steps }: Plan, met: Met<Subject>): void {
  const size = firstReservation({ instanceVcpus: 2, headVcpus }, first);
  const cluster = { target: first, maximum: 0, scale: 0, adapt: 0, running: first, reports: [], reported: null };
  const sim: Simulation = { reservation: { number: 1, user: 'ada', ...size }, cluster, requests: [], headVcpus, met };
  for (const each of steps) {
    take(sim, each);
    report(sim.cluster);
    check(sim);
  }
  settle(sim);
}

function take(sim: Simulation, each: Step): void {
  const { cluster } = sim;
  if (each.do === 'request') request(sim, each.adapt ? 'adapt' : 'scale', each.instances);
  else if (each.do === 'deliver') deliver(sim, each.request, each.lost === 0);
  else if (each.do === 'adapt') {
    if (cluster.maximum > 0) aim(cluster, 1 + (each.to % cluster.maximum));
  } else {
    if (cluster.running > cluster.target) cluster.running -= 1;
    report(cluster);
    if (each.report !== null) receive(sim, each.report);
  }
}

function check({ reservation, cluster, headVcpus }: Simulation): void {
  const { instances, vcpus } = reservation;
  const needed = Math.max(cluster.target, cluster.maximum, cluster.running);
  must(instances >= needed, () => `${instances} are reserved, and the cluster may have ${needed}`);
  must(vcpus === headVcpus + 2 * (instances - 1), () => `${vcpus} vCPUs for ${instances} instances`);
}

function request(sim: Simulation, kind: ShareKind, instances: number): void {
  const { reservation, met } = sim;
  const wanted = kind === 'scale' ? instances + 1 : instances;
  const use = { running: 1, instances: reservation.instances, vcpus: reservation.vcpus };
  const limits = { running: 1, instances: limit, vcpus: 1_000 };
  const answer = reserveShare(
    reservation,
    { kind, instances: wanted },
    { workspace: { use, limits }, user: { name: 'ada', use, limits: {} } },
  );
  if ('error' in answer) {
    must(wanted > reservation.instances && wanted > limit, () => 'refused although the limit allows it');
    return met('refused growth');
  }
  must(answer.ok.reservation.instances <= Math.max(limit, reservation.instances), () => 'above the limit');
  if (answer.ok.reservation.instances > reservation.instances) met('grown');
  sim.reservation = answer.ok.reservation;
  sim.requests.push({ kind, seq: answer.ok.seq, instances: wanted });
}

function deliver(sim: Simulation, which: number, isLost: boolean): void {
  const { cluster, met } = sim;
  const sent = pick(sim.requests, which);
  if (sent === undefined) return;
  sim.requests = sim.requests.filter((each) => each !== sent);
  if (isLost) return met('lost request');
  const { kind, seq, instances } = sent;
  if (seq < cluster[kind]) met('overtaken');
  else if (kind === 'scale') {
    cluster.scale = seq;
    aim(cluster, instances);
  } else {
    if (instances === 0) met('adaptive off');
    else aim(cluster, Math.min(cluster.target, instances));
    Object.assign(cluster, { adapt: seq, maximum: instances });
  }
  // Either may come first: the end of the request, or the cluster's report.
  report(cluster);
  if (seq % 2 === 0) receive(sim, cluster.reports.length - 1);
  sim.reservation = settleShare(sim.reservation, { kind, seq });
  const again = settleShare(sim.reservation, { kind, seq });
  must(again.instances === sim.reservation.instances, () => 'settling twice changes the reservation');
}

/** Instances beyond the target exist until they end. */
function aim(cluster: Cluster, target: number): void {
  cluster.target = target;
  cluster.running = Math.max(cluster.running, target);
}

/** After another request, and after a decrease. */
function report(cluster: Cluster): void {
  const { reported, running: instances, scale, adapt } = cluster;
  if (scale === 0 && adapt === 0) return;
  if (reported?.scale === scale && reported.adapt === adapt && reported.instances <= instances) return;
  cluster.reported = { instances, scale, adapt };
  cluster.reports.push(cluster.reported);
}

function receive(sim: Simulation, which: number): void {
  const { cluster, reservation, met } = sim;
  const arrived = pick(cluster.reports, which);
  if (arrived === undefined) return;
  cluster.reports = cluster.reports.filter((each) => each !== arrived);
  sim.reservation = noteUsage(reservation, arrived);
  must(sim.reservation.instances <= reservation.instances, () => 'a report raised the reservation');
  if (sim.reservation.instances < reservation.instances) met('released');
}

/** All reports have arrived, and no surplus instance remains. */
function settle(sim: Simulation): void {
  const { cluster } = sim;
  while (cluster.running > cluster.target) take(sim, { do: 'end one', report: 0 });
  while (cluster.reports.length > 0) receive(sim, 0);
  const { share, instances } = sim.reservation;
  // A cluster that never received its newest request keeps its reservation until the next.
  if (share === undefined || share.scale.seq !== cluster.scale || share.adapt.seq !== cluster.adapt) return;
  if (sim.requests.length > 0) return;
  const wanted = Math.max(share.scale.wanted, share.adapt.wanted, cluster.target);
  must(instances === wanted, () => `${instances} stay reserved, where ${wanted} may be wanted`);
}
