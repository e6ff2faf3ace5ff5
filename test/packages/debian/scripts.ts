/** Helpers of the scripts. `step` names what is tried; a command that fails ends the script, unless `refused` tries it. */
const prelude = `
step() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }
refused() { if "$@" > /tmp/refused 2>&1; then echo "was possible: $*"; cat /tmp/refused; exit 1; fi; }
has() { grep -q -e "$1" /tmp/said || { echo "expected: $1"; cat /tmp/said; exit 1; }; }
say() { "$@" > /tmp/said 2>&1 || { cat /tmp/said; exit 1; }; }
field() { sed -n "s/.*\\"$1\\": *\\"\\([^\\"]*\\)\\".*/\\1/p"; }
until_serving() { for at in $(seq 120); do "$@" status > /dev/null 2>&1 && return 0; sleep 0.5; done; "$@" status; }
`;

/** From the tarball to the first call that a person approved, as an ordinary user. Prints how long it took. */
export const firstCall = `${prelude}
cd ~; mkdir work; cd work
begun=$(date +%s%N)
npm install -g --no-audit --no-fund --loglevel=error --prefix ~/.local ~/sallyport.tgz > /dev/null
echo "installed after $(( ($(date +%s%N) - begun) / 1000000 )) ms with Node $(node --version)"
export PATH="$HOME/.local/bin:$PATH"
sallyport up > ~/up.log 2>&1 &
until_serving sallyport
echo "serving after $(( ($(date +%s%N) - begun) / 1000000 )) ms"
token=$(sallyport session create bot --json | field token)
echo hi > a.txt
SALLYPORT_TOKEN=$token sallyport tool invoke files.delete path=a.txt --wait 60 > ~/answer 2>&1 &
call=$!
task=
for at in $(seq 100); do
  task=$(sallyport approvals list --json | sed -n 's/.*"approvals":\\[{"id":"\\([^"]*\\)".*/\\1/p'); [ -z "$task" ] || break; sleep 0.1
done
effect=$(sallyport approvals show "$task" --json | field effectSha256)
sallyport approvals approve "$task" --effect-sha256 "$effect" > /dev/null
wait $call || { cat ~/answer; exit 1; }
[ ! -e a.txt ] || { echo 'It was not deleted.'; exit 1; }
echo "approved call after $(( ($(date +%s%N) - begun) / 1000000 )) ms"
sallyport audit verify
say sallyport doctor; has 'ok    program'; has 'ok    record'; has 'warn  limits .*watched'
say sallyport status; has 'service install'
sallyport stop
`;

const asAda =
  'setpriv --reuid ada --regid ada --init-groups env -i HOME=/home/ada USER=ada XDG_RUNTIME_DIR=/run/user/$(id -u ada) PATH=/home/ada/.local/bin:/usr/bin:/bin';

/** A service of an ordinary user, who has working limits by it. */
export const userService = `${prelude}
ada() { ${asAda} "$@"; }
loginctl enable-linger ada
for at in $(seq 100); do [ -S /run/user/$(id -u ada)/bus ] && break; sleep 0.3; done
cd /home/ada/work
step service install; say ada sallyport service install --yes; has 'Installed'
until_serving ada sallyport
step service status; say ada sallyport service status; has 'active (running), enabled'
step status; say ada sallyport status; has 'It runs as a service'; refused grep -q 'watched' /tmp/said
step doctor; say ada sallyport doctor; has 'ok    limits .*control groups'; has 'ok    program'
step service logs; say ada sallyport service logs; has 'is serving'
step service restart; before=$(ada sallyport status --json | sed 's/.*"pid":\\([0-9]*\\).*/\\1/')
ada sallyport service restart; until_serving ada sallyport
after=$(ada sallyport status --json | sed 's/.*"pid":\\([0-9]*\\).*/\\1/'); [ "$before" != "$after" ]
step restart; say ada sallyport restart; has 'as a service'
step kill; kill -9 $(ada sallyport status --json | sed 's/.*"pid":\\([0-9]*\\).*/\\1/'); sleep 3; until_serving ada sallyport
say ada sallyport service status; has 'restarts'
step service uninstall; say ada sallyport service uninstall --yes; has 'Removed'
refused ada sallyport status
refused ada sallyport service status
ada test -e /home/ada/.sallyport/sallyport.db
`;

/** A gate under a user of its own, and bob, who may call it, as its attacker. */
export const separatedService = `${prelude}
export HOME=/root
echo "127.0.0.1 localhost $(hostname)" > /etc/hosts
step install; say sallyport service install --separated --agents bob --yes; has 'Installed'
gate() { sudo -u sallyport env SALLYPORT_HOME=/var/lib/sallyport/gate SALLYPORT_SOCKETS=/run/sallyport sallyport "$@"; }
until_serving gate
say gate status; has 'separated'; refused grep -q 'watched' /tmp/said
step doctor; say gate doctor; has 'ok    limits .*control groups'; has 'ok    program'; has 'ok    install *separated'
token=$(gate session create bot --json | field token)
other=$(gate session create other --json | field token)
bob() { sudo -u bob env SALLYPORT_SOCKETS=/run/sallyport SALLYPORT_TOKEN=$token "$@"; }
step bob calls; bob sallyport tool invoke files.write path=hello.txt content=hi > /dev/null
refused sudo -u ada env SALLYPORT_SOCKETS=/run/sallyport SALLYPORT_TOKEN=$token sallyport tool list
pid=$(systemctl show --property=MainPID --value sallyport)
step bob attacks
for path in /var/lib/sallyport /var/lib/sallyport/gate/sallyport.db /run/sallyport /run/sallyport/operator \\
  /proc/$pid/fd /proc/$pid/cwd/ /proc/$pid/root/ /proc/$pid/map_files; do refused sudo -u bob ls "$path"; done
for path in /var/lib/sallyport/gate/keys/audit.key /var/lib/sallyport/gate/credentials/operator \\
  /var/lib/sallyport/gate/log/daemon.log /proc/$pid/environ /proc/$pid/mem /proc/$pid/maps /proc/$pid/io \\
  /proc/$pid/syscall /proc/$pid/stack; do refused sudo -u bob cat "$path"; done
[ -z "$(sudo -u bob find / -xdev -user sallyport -readable -not -type l 2> /dev/null)" ]
! sudo -u bob grep -r -l -s -e "$other" /proc/[0-9]*/cmdline /proc/[0-9]*/environ /tmp /run /dev/shm /var/log
for command in 'echo x > /run/sallyport/x' 'ln -s /etc /run/sallyport/agent/y' 'rm /run/sallyport/agent/sallyport.sock' \\
  'mv /run/sallyport/agent /run/sallyport/old' 'mv /run/sallyport /run/old' "kill -9 $pid" "kill -QUIT $pid" \\
  "grep -q . /sys/fs/cgroup/system.slice/sallyport.service/cgroup.procs && echo 1 > /sys/fs/cgroup/system.slice/sallyport.service/cgroup.kill" \\
  "echo 0x3f > /proc/$pid/coredump_filter" "prlimit --pid $pid --core=unlimited" 'journalctl --unit sallyport -n 1 | grep .' \\
  'systemctl stop sallyport'; do refused sudo -u bob sh -c "$command"; done
refused bob sallyport session list
refused bob sallyport audit tail
until_serving gate
step restart; sallyport service restart; until_serving gate
say sallyport service logs; has 'is serving'
systemd-analyze security sallyport --no-pager | tail -1
step uninstall; say sallyport service uninstall --separated --yes; has 'Removed'
refused sallyport service status
refused getent passwd sallyport
[ "$(stat -c %U:%a /var/lib/sallyport/gate)" = root:700 ]
[ -z "$(find /var/lib/sallyport -not -user root)" ]
step install again; say sallyport service install --separated --agents bob --yes; until_serving gate
say gate audit verify
say sallyport service uninstall --separated --yes
`;
