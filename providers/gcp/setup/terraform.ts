// The project that setup prepares, as a Terraform or OpenTofu module in JSON syntax, built from setup's own names, bodies and
// roles with variables in place of values. Afterwards `ropewalk setup gcp` finds nothing missing.
import { accountBody, bucketBody, networkBody, ruleBody, subnetworkBody } from './bodies.ts';
import { servicesOf } from './find.ts';
import { everywhere, rangeNumber } from './plan.ts';
import { type RoleFile, roleBody } from './roles.ts';
import {
  type AccountRole,
  accountRoles,
  bindingsOf,
  type CustomRole,
  customRoles,
  emailOf,
  roleId,
  roleName,
  type RuleRole,
  ruleRoles,
  type Wanted,
} from './wanted.ts';

type Block = Record<string, unknown>;

/** Values are Terraform expressions. */
const variables: Wanted = {
  project: '${var.project}',
  deploymentId: '${var.deployment_id}',
  name: '${var.name}',
  regions: ['${var.regions[0]}'],
  clientRanges: null,
  bucket: '${var.bucket}',
};
const onlyWithBucket = '${var.bucket == null ? 0 : 1}';
const name = (role: string): string => role.replaceAll('-', '_');
const { project } = variables;

export function terraformModule(roles: Record<CustomRole, RoleFile>): Block {
  return {
    '//': 'Written by ops/gcp/terraform-write.ts. docs/gcp.md says how to apply it.',
    terraform: {
      required_version: '>= 1.5',
      required_providers: { google: { source: 'hashicorp/google', version: '>= 6.0' } },
    },
    variable: {
      project: { type: 'string', description: 'The id of the project.' },
      deployment_id: {
        type: 'string',
        description: 'The id of the deployment: deploymentId in host.json of its home.',
      },
      name: {
        type: 'string',
        default: 'ropewalk',
        description: 'Of networks, accounts and roles: 6 to 16 of a-z, 0-9 and "-".',
      },
      regions: {
        type: 'list(string)',
        default: ['us-central1'],
        description: 'Each gets a subnetwork; the bucket is in the first.',
      },
      client_ranges: { type: 'list(string)', default: [everywhere], description: 'Who may reach Dask schedulers.' },
      bucket: { type: 'string', default: null, description: 'Of the object store; null for none.' },
    },
    resource: {
      google_project_service: { api: services() },
      google_compute_network: { ropewalk: network() },
      google_compute_subnetwork: { ropewalk: subnetwork() },
      google_compute_firewall: Object.fromEntries(ruleRoles.map((role) => [role, firewall(role)])),
      google_service_account: Object.fromEntries(accountRoles.map((role) => [name(role), account(role)])),
      google_project_iam_custom_role: Object.fromEntries(
        customRoles.map((role) => [name(role), customRole(role, roles[role])]),
      ),
      ...bucket(),
      ...grants(),
    },
    output: {
      setup: {
        description: 'Run this next: it finds everything there, and writes the settings file.',
        value: `ropewalk setup gcp --project ${project} --deployment ${variables.deploymentId} --name ${variables.name} --region \${join(",", var.regions)}\${var.bucket == null ? "" : " --bucket \${var.bucket}"}`,
      },
    },
  };
}

const afterApis = { depends_on: ['google_project_service.api'] };

function services(): Block {
  const always = servicesOf({ bucket: null });
  const more = servicesOf({ bucket: '' }).filter((each) => !always.includes(each));
  return {
    for_each: `\${toset(concat(${JSON.stringify(always)}, var.bucket == null ? [] : ${JSON.stringify(more)}))}`,
    project,
    service: '${each.key}.googleapis.com',
    disable_on_destroy: false,
  };
}

function network(): Block {
  const { name: of, description, autoCreateSubnetworks, routingConfig } = networkBody(variables);
  return {
    ...{ project, name: of, description, auto_create_subnetworks: autoCreateSubnetworks },
    routing_mode: routingConfig.routingMode,
    ...afterApis,
  };
}

const theNetwork = '${google_compute_network.ropewalk.id}';

function subnetwork(): Block {
  const { name: of, description, ipCidrRange, privateIpGoogleAccess } = subnetworkBody(variables, '${each.value}');
  return {
    for_each: `\${{ for at, region in var.regions : region => "${rangeNumber('${at}')}" }}`,
    ...{ project, region: '${each.key}', name: of, description, network: theNetwork, ip_cidr_range: ipCidrRange },
    private_ip_google_access: privateIpGoogleAccess,
  };
}

function firewall(role: RuleRole): Block {
  const { name: of, description, direction, targetTags, allowed, ...source } = ruleBody(variables, role, []);
  return {
    ...{ project, name: of, description, network: theNetwork, direction },
    ...('sourceTags' in source ? { source_tags: source.sourceTags } : { source_ranges: '${var.client_ranges}' }),
    target_tags: targetTags,
    allow: allowed.map(({ IPProtocol, ...ports }) => ({ protocol: IPProtocol, ...ports })),
  };
}

function account(role: AccountRole): Block {
  const { accountId, serviceAccount } = accountBody(variables, role);
  const { displayName, description } = serviceAccount;
  return { project, account_id: accountId, display_name: displayName, description, ...afterApis };
}

/** Role ids may not contain "-"; the variable may. */
const withRoleIds = (text: string): string => text.replaceAll('${var.name}_', '${replace(var.name, "-", "_")}_');

function customRole(role: CustomRole, file: RoleFile): Block {
  const { title, description, stage, includedPermissions } = roleBody(file, variables);
  return {
    ...(role === 'object-store' ? { count: onlyWithBucket } : {}),
    ...{ project, role_id: withRoleIds(roleId(variables, role)), title, description, stage },
    permissions: includedPermissions,
    ...afterApis,
  };
}

function bucket(): Block {
  const { name: of, location, labels, iamConfiguration, softDeletePolicy } = bucketBody(variables);
  return {
    google_storage_bucket: {
      objects: {
        count: onlyWithBucket,
        ...{ project, name: of, location, labels },
        uniform_bucket_level_access: iamConfiguration.uniformBucketLevelAccess.enabled,
        public_access_prevention: iamConfiguration.publicAccessPrevention,
        soft_delete_policy: { retention_duration_seconds: Number(softDeletePolicy.retentionDurationSeconds) },
        ...afterApis,
      },
    },
  };
}

/** Two accounts have grants of the control plane. */
const keyOn = (on: string, key: string): string => (on === 'control-plane account' ? 'signing' : key);

/** References order a grant after the resources that it names. */
function grants(): Block {
  const references = new Map([
    ...customRoles.map((role) => {
      const at = role === 'object-store' ? '[0]' : '';
      return [roleName(variables, role), `\${google_project_iam_custom_role.${name(role)}${at}.name}`] as const;
    }),
    ...accountRoles.map((role) => {
      const member = `serviceAccount:${emailOf(variables, role)}`;
      return [member, `serviceAccount:\${google_service_account.${name(role)}.email}`] as const;
    }),
  ]);
  const all = bindingsOf(variables).map(({ on, role, member }) => {
    const grant = { role: references.get(role) ?? role, member: references.get(member) ?? member };
    const key = accountRoles.find((each) => member === `serviceAccount:${emailOf(variables, each)}`) ?? member;
    return { on, key: name(key), grant };
  });
  const of = (on: string, place: Block): Block =>
    Object.fromEntries(
      all.filter((each) => each.on === on).map(({ key, grant }) => [keyOn(on, key), { ...place, ...grant }]),
    );
  return {
    google_project_iam_member: of('project', { project }),
    google_service_account_iam_member: {
      ...of('instance account', { service_account_id: '${google_service_account.instance.name}' }),
      ...of('control-plane account', {
        count: onlyWithBucket,
        service_account_id: '${google_service_account.control_plane.name}',
      }),
    },
    google_storage_bucket_iam_member: of('bucket', {
      count: onlyWithBucket,
      bucket: '${google_storage_bucket.objects[0].name}',
    }),
  };
}
