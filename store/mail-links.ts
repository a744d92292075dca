// Links in e-mails that sign in.
import { linkEnded, openLink, type LinkedUser, type MailLink } from '../domain/people/mail-link.ts';
import { newSession } from '../domain/people/sign-in.ts';
import type { Database } from './database.ts';
import type { MailLinkStore, NewMailLink } from './mail-link-port.ts';
import { countTokens, deleteEndedTokens } from './people.ts';
import { findUser, insertToken, lockWorkspace } from './people-rows.ts';
import type { Db, MailLinkTable } from './tables.ts';

export const createMailLinkStore = (database: Database): MailLinkStore => ({
  begin: async (item, nowMs) => {
    const isPossible = (users: LinkedUser[]): boolean => users.some(({ isTied }) => !isTied);
    // Requests for addresses of strangers wait for no writer.
    if (!isPossible(await database.read((db) => linkedUsers(db, item.address)))) return 'no-user';
    return database.write(async (db) => {
      const users = await linkedUsers(db, item.address);
      if (!isPossible(users)) return 'no-user';
      await db.deleteFrom('mail_links').where('expires_at_ms', '<=', nowMs).where('hour', '<', item.hour).execute();
      if ((await countLinks(db, item.hour)) >= item.maxOfAll) return 'too-many';
      const userIds = users.filter(({ isTied }) => !isTied).map(({ id }) => id);
      return (await replaceLink(db, item, userIds)) ? 'begun' : 'too-many';
    });
  },
  use: (item, nowMs) =>
    database.write(async (db) => {
      const row = await db
        .selectFrom('mail_links')
        .selectAll()
        .where('link_hash', '=', item.linkHash)
        .executeTakeFirst();
      const link = row === undefined ? null : linkOf(row);
      const open = async () =>
        openLink({ link, users: link === null ? [] : await linkedUsers(db, link.address) }, item.browserHash, nowMs);
      const possible = await open();
      if ('error' in possible) return possible;
      if (item.workspace === null && possible.ok.length > 1) return { ok: { choose: possible.ok } };
      const slug = item.workspace ?? possible.ok[0];
      // The same error as for a workspace without the address: workspace names are not disclosed.
      if (link === null || slug === undefined || !possible.ok.includes(slug)) return { error: linkEnded };
      await lockWorkspace(db, database.engine, slug);
      // The user may have been removed, or tied to an account, before the lock.
      const locked = await open();
      const user = await findUser(db, slug, link.address);
      if ('error' in locked || !locked.ok.includes(slug) || user === null) return { error: linkEnded };
      const counted = await countTokens(db, slug, { userId: user.id, nowMs });
      const session = newSession({ slug, user, counted }, item.token, nowMs);
      if ('error' in session) return session;
      // Another request may have used or replaced the link meanwhile.
      const ended = await db
        .updateTable('mail_links')
        .set({ used_at_ms: nowMs })
        .where('link_hash', '=', item.linkHash)
        .where('used_at_ms', 'is', null)
        .executeTakeFirst();
      if (ended.numUpdatedRows === 0n) return { error: linkEnded };
      await insertToken(db, slug, session.ok);
      await deleteEndedTokens(db, slug, nowMs);
      const { id, scopes, expiresAtMs } = session.ok;
      return { ok: { workspace: slug, issued: { id, user: user.name, scopes, expiresAtMs } } };
    }),
});

async function linkedUsers(db: Db, address: string): Promise<LinkedUser[]> {
  const rows = await db
    .selectFrom('users')
    .leftJoin('identities', 'identities.user_id', 'users.id')
    .select(['users.id', 'users.workspace', 'identities.user_id as tied'])
    .where('users.name', '=', address)
    .execute();
  return rows.map(({ id, workspace, tied }) => ({ id, workspace, isTied: tied !== null }));
}

async function countLinks(db: Db, hour: number): Promise<number> {
  const row = await db
    .selectFrom('mail_links')
    .select(({ fn }) => fn.sum<number | null>('sent').as('sent'))
    .where('hour', '=', hour)
    .executeTakeFirst();
  return row?.sent ?? 0;
}

/** One statement, so concurrent requests for an address leave one link. */
async function replaceLink(db: Db, item: NewMailLink, userIds: string[]): Promise<boolean> {
  const link = {
    ...{ link_hash: item.linkHash, browser_hash: item.browserHash, user_ids: JSON.stringify(userIds) },
    ...{ expires_at_ms: item.expiresAtMs, used_at_ms: null, hour: item.hour },
  };
  const replaced = await db
    .insertInto('mail_links')
    .values({ address: item.address, ...link, sent: 1 })
    .onConflict((conflict) =>
      conflict
        .column('address')
        .doUpdateSet((build) => ({
          ...link,
          sent: build
            .case()
            .when('mail_links.hour', '=', item.hour)
            .then(build('mail_links.sent', '+', 1))
            .else(1)
            .end(),
        }))
        .where((build) =>
          build.or([build('mail_links.hour', '!=', item.hour), build('mail_links.sent', '<', item.maxOfAddress)]),
        ),
    )
    .returning('sent')
    .executeTakeFirst();
  return replaced !== undefined;
}

const linkOf = (row: MailLinkTable): MailLink => ({
  address: row.address,
  browserHash: row.browser_hash,
  userIds: JSON.parse(row.user_ids) as string[],
  expiresAtMs: row.expires_at_ms,
  usedAtMs: row.used_at_ms,
});
