#!/bin/sh
# Boots a machine of an emulated EC2 from its user data alone: systemd is its first process, on a copy-on-write copy of this file
# system, with process ids, mounts and control groups of its own. In place of cloud-init a service runs the user data. Needs root,
# a work directory outside the file system that is copied (/dev/shm), and SHARED_CACHE: prebuilt environments.
set -eu
groups=$(findmnt --noheadings --types cgroup2 --output TARGET | head -n 1)/emulated-$ROPEWALK_INSTANCE
mkdir upper work root cache-upper cache-work "$groups"
touch console.txt
cat > inside.sh <<'INSIDE'
set -eu
machine=$PWD
mount --make-rprivate /
mount -t overlay machine -o "lowerdir=/,upperdir=$machine/upper,workdir=$machine/work" root
cd root
mount -t proc proc proc
# The machine must not change the kernel's settings.
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs sys/fs/cgroup
mount -t cgroup2 cgroup sys/fs/cgroup
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=755 dev dev
for name in null zero full random urandom tty console; do touch "dev/$name"; done
for name in null zero full random urandom tty; do mount --bind "/dev/$name" "dev/$name"; done
mount --bind "$machine/console.txt" dev/console
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mkdir -p ".$SHARED_CACHE"
mount -t overlay cache -o "lowerdir=$SHARED_CACHE,upperdir=$machine/cache-upper,workdir=$machine/cache-work" ".$SHARED_CACHE"
# The task user can enter these directories.
directory=.$SHARED_CACHE
while [ "$directory" != . ]; do
  chmod a+rx "$directory"
  directory=$(dirname "$directory")
done
# The machine must not run the services of the test's host.
rm -rf etc/systemd/system
mkdir -p etc/systemd/system etc/systemd/system.conf.d
# The endpoints that a real cloud has at well-known addresses.
cat > etc/systemd/system.conf.d/cloud.conf <<CONF
[Manager]
DefaultEnvironment=AWS_EC2_METADATA_SERVICE_ENDPOINT=$AWS_EC2_METADATA_SERVICE_ENDPOINT
DefaultEnvironment=AWS_ENDPOINT_URL=${AWS_EC2_METADATA_SERVICE_ENDPOINT%/imds/*} ROPEWALK_CACHE_DIR=$SHARED_CACHE
CONF
cat > run/cloud-init.sh <<'SCRIPT'
set -eu
metadata=$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest
token=$(curl -fsS -X PUT -H 'x-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/api/token")
curl -fsS -H "x-aws-ec2-metadata-token: $token" -o /run/user-data "$metadata/user-data"
chmod 700 /run/user-data
exec /run/user-data
SCRIPT
cat > etc/systemd/system/cloud-init.service <<'UNIT'
[Service]
Type=oneshot
ExecStart=/bin/sh /run/cloud-init.sh
StandardOutput=file:/dev/console
StandardError=inherit
UNIT
exec env -i container=other PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  chroot . /lib/systemd/systemd --system --unit=cloud-init.service --log-target=console --show-status=false
INSIDE
export groups
sh -c 'echo $$ > "$groups/cgroup.procs"
  exec unshare --mount --pid --fork --cgroup --ipc --uts --kill-child sh inside.sh' &
outside=$!
# Like a cloud's shutdown request: systemd then stops its services in order.
trap 'kill -38 $(cat "/proc/$outside/task/$outside/children")' TERM
while kill -0 $outside 2>/dev/null; do wait $outside || true; done
find "$groups" -depth -type d -exec rmdir {} + 2>/dev/null || true
