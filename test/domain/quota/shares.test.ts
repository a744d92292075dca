// Single cases of reservations that change.
import { expect, it } from 'vitest';

import { firstReservation, noteUsage, reserveShare, settleShare } from '../../../domain/quota/shares.ts';
import type { Reservation } from '../../../domain/quota/state.ts';

const none = { running: 0, instances: 0, vcpus: 0 };
const ample = {
  workspace: { use: none, limits: { running: 9, instances: 99, vcpus: 999 } },
  user: { name: 'ada', use: none, limits: {} },
};
const aReservation = (): Reservation => ({ number: 1, user: 'ada', instances: 3, vcpus: 8, workerVcpus: 2 });

function reserved(before: Reservation, instances: number): Reservation {
  const answer = reserveShare(before, { kind: 'scale', instances }, ample);
  if ('error' in answer) throw new Error(answer.error.message);
  return answer.ok.reservation;
}

it('counts the head once, with its own vCPUs', () => {
  expect(firstReservation({ instanceVcpus: 2, headVcpus: 4 }, 3)).toEqual({ instances: 3, vcpus: 8, workerVcpus: 2 });
  expect(firstReservation({ instanceVcpus: 2, headVcpus: 4 }, 1)).toEqual({ instances: 1, vcpus: 4, workerVcpus: 2 });
  expect(reserved(aReservation(), 5)).toMatchObject({ instances: 5, vcpus: 12 });
});

it('ignores the settlement of a request that a newer one replaced', () => {
  const before = reserved(reserved(aReservation(), 10), 4);
  expect(settleShare(before, { kind: 'scale', seq: 1 })).toBe(before);
  expect(settleShare(before, { kind: 'adapt', seq: 1 })).toBe(before);
  expect(settleShare(before, { kind: 'scale', seq: 2 })).not.toBe(before);
});

it('ignores reports of a cluster that never got a request', () => {
  const before = aReservation();
  expect(noteUsage(before, { instances: 1, scale: 0, adapt: 0 })).toBe(before);
  expect(settleShare(before, { kind: 'scale', seq: 0 })).toBe(before);
});

it('adaptive scaling with a smaller maximum releases what the cluster no longer has, and reserves no more than that maximum', () => {
  const asked = (from: Reservation, maximum: number): Reservation => {
    const answer = reserveShare(from, { kind: 'adapt', instances: maximum + 1 }, ample);
    if ('error' in answer) throw new Error(answer.error.message);
    return settleShare(answer.ok.reservation, { kind: 'adapt', seq: answer.ok.seq });
  };
  const wide = noteUsage(asked(aReservation(), 20), { instances: 21, scale: 0, adapt: 1 });
  expect(wide.instances).toBe(21);
  const narrow = asked(wide, 5);
  // Its instances have not ended yet.
  expect(narrow.instances).toBe(21);
  expect(noteUsage(narrow, { instances: 9, scale: 0, adapt: 2 }).instances).toBe(9);
  expect(noteUsage(narrow, { instances: 2, scale: 0, adapt: 2 }).instances).toBe(6);
});
