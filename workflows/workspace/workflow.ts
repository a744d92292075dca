// A workspace: it admits in the update handler, which only reserves and answers, and starts in the loop. It lives for
// ever, continuing as new when its history grows.
import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  patched,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';

import type { Footprint } from '../../domain/cluster/footprint.ts';
import { admit } from '../../domain/workspace/admit.ts';
import { createWorkspaceState, withPeople } from '../../domain/workspace/create.ts';
import { needsSpare, release } from '../../domain/workspace/holders.ts';
import { forgetForNextRun } from '../../domain/workspace/keys.ts';
import { lookSoon } from '../../domain/workspace/reconcile.ts';
import { noteFootprint, reserveShare, settleShare } from '../../domain/workspace/shares.ts';
import type { AdmitItem, WorkspaceLimits, WorkspaceState, WorkspaceUser } from '../../domain/workspace/state.ts';
import { issueToken, revokeToken, type IssuedToken } from '../../domain/workspace/tokens.ts';
import { configure, putUser, removeUser } from '../../domain/workspace/users.ts';
import { onCancelRequest } from '../cancellation.ts';
import { answerEach } from '../flush.ts';
import type { Flush, FlushAnswer } from '../../contracts/flush.ts';
import { shouldRoll } from '../rolling.ts';
import { createLease, leaseSpare, startHolders } from './execute.ts';
import { workspaceMessages } from './messages.ts';
import type {
  AdmitOk,
  ConfigureItem,
  IssueTokenItem,
  PutUserItem,
  ReleasedSignal,
  RemoveUserItem,
  RevokeTokenItem,
  ShareItem,
  WorkspaceInput,
  WorkspaceView,
} from './messages.ts';
import { createLooks } from './reconcile.ts';

const admitUpdate = defineUpdate<FlushAnswer<AdmitOk>, [Flush<AdmitItem>]>(workspaceMessages.admit);
const configureUpdate = defineUpdate<FlushAnswer<WorkspaceLimits>, [Flush<ConfigureItem>]>(workspaceMessages.configure);
const issueUpdate = defineUpdate<FlushAnswer<IssuedToken>, [Flush<IssueTokenItem>]>(workspaceMessages.issueToken);
const revokeUpdate = defineUpdate<FlushAnswer<{ id: string }>, [Flush<RevokeTokenItem>]>(workspaceMessages.revokeToken);
const putUserUpdate = defineUpdate<FlushAnswer<WorkspaceUser>, [Flush<PutUserItem>]>(workspaceMessages.putUser);
const removeUserUpdate = defineUpdate<FlushAnswer<WorkspaceUser>, [Flush<RemoveUserItem>]>(
  workspaceMessages.removeUser,
);
const shareUpdate = defineUpdate<FlushAnswer<{ seq: number }>, [Flush<ShareItem>]>(workspaceMessages.share);
const releasedSignal = defineSignal<[ReleasedSignal]>(workspaceMessages.released);
const footprintSignal = defineSignal<[Footprint]>(workspaceMessages.footprint);
const lookSignal = defineSignal(workspaceMessages.look);
const viewQuery = defineQuery<WorkspaceView>(workspaceMessages.view);

export async function workspace(input: WorkspaceInput): Promise<void> {
  const state = input.carry === undefined ? createWorkspaceState(input) : withPeople(input.carry);
  setHandler(admitUpdate, (flush) => answerEach(flush, (item) => admit(state, item, Date.now())));
  setHandler(configureUpdate, (flush) => answerEach(flush, (item) => configureNow(state, item)));
  setHandler(issueUpdate, (flush) => answerEach(flush, (item) => issueToken(state, item, Date.now())));
  setHandler(revokeUpdate, (flush) => answerEach(flush, ({ id, by }) => revokeToken(state, id, Date.now(), by)));
  setHandler(putUserUpdate, (flush) => answerEach(flush, (item) => putUser(state, item, Date.now())));
  setHandler(removeUserUpdate, (flush) => answerEach(flush, (item) => removeUser(state, item, Date.now())));
  setHandler(shareUpdate, (flush) =>
    answerEach(flush, (item) =>
      item.do === 'reserve' ? reserveShare(state, item.share) : settleShare(state, item.share),
    ),
  );
  setHandler(releasedSignal, ({ number }) => release(state, number));
  setHandler(footprintSignal, (footprint) => noteFootprint(state, footprint));
  setHandler(lookSignal, () => lookSoon(state));
  setHandler(viewQuery, () => viewWorkspace(state));

  // It holds what everything else hangs from: cancelling it is not something an operator can mean.
  await onCancelRequest(
    () => log.warn('a cancel request was ignored: terminate this workflow if you really mean it'),
    () => run(state, input),
  );
}

const looksPatch = 'looks-at-holders';

/** Before this the loop waited for each lease of numbers. */
const leasePatch = 'leases-beside';

async function run(state: WorkspaceState, input: WorkspaceInput): Promise<void> {
  const reserved = (): boolean => state.holders.some((holder) => holder.state === 'reserved');
  const looks = createLooks(state);
  const lease = createLease(state);
  const leasesBeside = patched(leasePatch);
  const leaseIsDue = leasesBeside ? lease.isDue : () => needsSpare(state);
  for (;;) {
    setCurrentDetails(describe(state));
    const canRoll = (): boolean => shouldRoll() && !looks.underWay() && !lease.underWay();
    const nowMs = Date.now();
    // Histories from before the looks were recorded without their timers; a run that is to end begins none.
    const lookAtMs = patched(looksPatch) && !shouldRoll() ? looks.dueMs() : null;
    const looked = looks.underWay();
    const lookIsWanted = (): boolean => lookAtMs !== null && looks.dueMs() === 0;
    const news = (): boolean =>
      reserved() || leaseIsDue() || canRoll() || lookIsWanted() || looks.underWay() !== looked;
    if (lookAtMs === null) await condition(news);
    else if (lookAtMs > nowMs) {
      await condition(news, lookAtMs - nowMs, { summary: 'the next look at what is open' });
    }
    if (lookAtMs !== null) looks.beginIfDue(Date.now());
    if (leasesBeside) lease.beginIfDue();
    await Promise.all([startHolders(state), leasesBeside ? null : leaseSpare(state)]);
    if (canRoll()) break;
  }
  forgetForNextRun(state, Date.now());
  // The state itself and no copy: updates that have come by now are answered before the run ends, and change it.
  await continueAsNew<typeof workspace>({ ...input, carry: state });
}

const configureNow = (state: WorkspaceState, { limits, perUser, by }: ConfigureItem) =>
  configure(state, limits, { by: by ?? null, nowMs: Date.now(), ...(perUser === undefined ? {} : { perUser }) });

function viewWorkspace(state: WorkspaceState): WorkspaceView {
  const { slug, deploymentId, tokens, users, limits, perUser, events, holders, admitted } = state;
  return { slug, deploymentId, tokens, users, limits, perUser, events, holders, admitted };
}

function describe(state: WorkspaceState): string {
  const open = state.holders
    .slice(-20)
    .map((holder) => `| ${holder.number} | ${holder.kind} | ${holder.name} | ${holder.user} |`);
  const head = `**${state.holders.length}** open, ${state.admitted} admitted so far.`;
  return open.length === 0
    ? head
    : [head, '', '| number | kind | name | user |', '|---|---|---|---|', ...open].join('\n');
}
