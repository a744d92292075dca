// The search attributes by which operators find workflows in the Temporal UI. temporal-dev.yml and `init` create them.
import { defineSearchAttributeKey } from '@temporalio/common';

export const workspaceKey = defineSearchAttributeKey('RopewalkWorkspace', 'KEYWORD');
export const userKey = defineSearchAttributeKey('RopewalkUser', 'KEYWORD');
export const statusKey = defineSearchAttributeKey('RopewalkStatus', 'KEYWORD');
