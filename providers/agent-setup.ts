// Installs the agent on an instance of any cloud: a shell script downloads Node.js and the agent, verified by their hashes, and
// starts the agent as a service that powers the instance off when it ends.
import type { Architecture } from '../domain/offers/offer.ts';

/** The agent's download, verified by its hash. */
export interface AgentDownload {
  url: string;
  sha256: string;
  /** The Node.js download of each architecture. */
  node: Record<Architecture, { url: string; sha256: string }>;
  /** The PEM certificate of the API's authority; null where machines trust it by default. */
  apiCa: string | null;
}

/** The user of users' code; an image may have created it already. */
const taskUser = 'ropewalk';
/** Above the ids that systems, people and their containers use. */
const containerUsers = '1900000000-1900065535';
/** Addresses of each cloud's metadata service (ROPEWALK_METADATA_ADDRESSES); the agent blocks tasks from reaching them. */
const metadataAddresses = { aws: '169.254.169.254,fd00:ec2::254', gcp: '169.254.169.254,fd20:ce::254' };
/** Node trusts this file's authorities besides its own. */
const caFile = '/opt/ropewalk/api-ca.pem';

/** `cloud` is the value of ROPEWALK_CLOUD, by which the agent recognizes its cloud. */
export function agentSetup(
  download: AgentDownload,
  architecture: Architecture,
  cloud: keyof typeof metadataAddresses,
): string {
  const node = download.node[architecture];
  const { apiCa } = download;
  const [trust, environment] = apiCa === null ? ['', ''] : [' --cacert api-ca.pem', ` NODE_EXTRA_CA_CERTS=${caFile}`];
  return `set -eu
umask 077
# An instance without an agent powers itself off, so that it costs nothing. This comes first, because what follows may fail,
# and repeats, because the agent may end later. A reboot drops this timer, but by then the agent's service is enabled and ends.
systemd-run --on-active=30min --on-unit-active=30min --unit=ropewalk-watchdog \\
  sh -c 'systemctl is-active --quiet ropewalk-agent || poweroff'
mkdir -p /opt/ropewalk /var/lib/ropewalk /var/log/ropewalk
# An API or a mirror that is unavailable during boot costs no instance: downloads are retried for nearly as long as the control
# plane waits for the instance, and a download that hangs is restarted.
fetch() {
  curl -fsSL --retry 200 --retry-all-errors --retry-delay 3 --retry-max-time 540 \\
    --connect-timeout 20 --speed-limit 1 --speed-time 30 "$@"
}
packages() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"
}
install_venv() {
  for pause in 5 10 20 40 80 160; do
    packages update && packages install python3-venv && return
    sleep $pause
  done
  return 1
}
cd /opt/ropewalk
fetch -o node.tar.xz '${node.url}'
echo '${node.sha256}  node.tar.xz' | sha256sum -c -
mkdir -p node && tar -xJf node.tar.xz -C node --strip-components 1 && rm node.tar.xz
${apiCa === null ? '' : `cat > api-ca.pem <<'CA'\n${apiCa.trim()}\nCA\n`}fetch${trust} -o agent.mjs '${download.url}'
echo '${download.sha256}  agent.mjs' | sha256sum -c -
# Ubuntu's Python lacks the module that creates environments.
python3 -c 'import ensurepip' 2>/dev/null || install_venv
# Tasks and Dask's processes run as a user of their own: nothing that the agent has is theirs.
id ${taskUser} >/dev/null 2>&1 || useradd --system --create-home --shell /bin/bash ${taskUser}
# For the users of containers, which that user runs.
grep -qs '^${taskUser}:' /etc/subuid || usermod --add-subuids ${containerUsers} --add-subgids ${containerUsers} ${taskUser}
cat > /etc/systemd/system/ropewalk-agent.service <<'UNIT'
[Unit]
Description=Ropewalk agent
After=network-online.target
Wants=network-online.target
# The end of the agent ends the instance, which is terminated or deleted when it shuts down. An agent that fails is started
# again: it finds its claim and exits with 0, or starts anew if it had not begun, for minutes but not forever.
SuccessAction=poweroff
StartLimitIntervalSec=30min
StartLimitBurst=150
StartLimitAction=poweroff
[Service]
Environment=ROPEWALK_CLOUD=${cloud} ROPEWALK_INSTANCE_DIR=/var/lib/ropewalk ROPEWALK_LOG_DIR=/var/log/ropewalk ROPEWALK_TASK_USER=${taskUser}${environment}
Environment=ROPEWALK_METADATA_ADDRESSES=${metadataAddresses[cloud]}
ExecStart=/opt/ropewalk/node/bin/node /opt/ropewalk/agent.mjs
Restart=on-failure
RestartSec=2
KillMode=mixed
# The kernel ends a task that takes too much memory; the agent and the other tasks go on.
OOMPolicy=continue
[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable --now ropewalk-agent
`;
}
