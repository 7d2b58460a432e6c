#!/usr/bin/env bash
# Ceph 16.2 radosgw on loopback: 1 mon, 1 osd (memstore or bluestore on a file), no mgr, no auth inside, no systemd.
#   ceph-rgw.sh run DIR [BUCKET]                foreground (spawn this from a test): SIGTERM stops all; killed -9, its children die too
#   ceph-rgw.sh start DIR [BUCKET]              free ports are picked once and kept in DIR/ports; prints one JSON line
#   ceph-rgw.sh stop DIR | status DIR | crash DIR [mon|osd|rgw] | revive DIR mon|osd|rgw | pause|resume DIR NAME
# STORE=bluestore (default: a sparse 10 GB file, survives kill -9) or memstore (starts in 1.5 s, data gone after a restart)
# Credentials: access key test, secret testing, region us-east-1, path-style.
set -euo pipefail
cmd=$1; D=$(mkdir -p "$2" && cd "$2" && pwd); STORE=${STORE:-bluestore}; C=$D/ceph.conf
ours() { local p; p=$(cat "$D/run/$1.pid" 2>/dev/null) || return 1; [ -n "$p" ] && tr '\0' ' ' 2>/dev/null < "/proc/$p/cmdline" | grep -qF "$D/ceph.conf" && [ "$(awk "{print \$3}" /proc/$p/stat 2>/dev/null)" != Z ] && echo "$p"; }
ports() { [ -s "$D/ports" ] || python3 -c 'import socket
s=[socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1",0))
print(*[x.getsockname()[1] for x in s])' > "$D/ports"; read -r MP RP < "$D/ports"; }
spawn() { local n=$1; shift; ${PDEATH:+setpriv --pdeathsig KILL} setsid "$@" < /dev/null > "$D/log/$n.out" 2>&1 & echo $! > "$D/run/$n.pid"; }
one() { case $1 in mon) spawn mon ceph-mon -i a -f -c "$C" ;; osd) spawn osd ceph-osd -i 0 -f -c "$C" ;; rgw) spawn rgw radosgw -f -n client.rgw -c "$C" ;; esac; }
case $cmd in
start|run)
  [ $cmd = run ] && PDEATH=1
  [ -x /usr/bin/radosgw ] && [ -x /usr/bin/radosgw-admin ] && [ -x /usr/bin/ceph-mon ] && [ -x /usr/bin/ceph-osd ] || { echo 'Ceph is missing: apt-get install --no-install-recommends ceph-mon ceph-osd radosgw' >&2; exit 1; }
  ours rgw >/dev/null && { echo "already running" >&2; exit 1; }
  B=${3:-footage}; t0=$(date +%s%N)
  mkdir -p "$D"/{run,log,mon,osd}; ports; fresh=0; [ -f "$C" ] || fresh=1
  if [ $fresh = 1 ]; then FS=$(cat /proc/sys/kernel/random/uuid); U=$(cat /proc/sys/kernel/random/uuid); cat > "$C" <<EOF
[global]
fsid = $FS
mon host = [v2:127.0.0.1:$MP]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms mon service mode = crc
ms mon cluster mode = crc
paxos propose interval = 0.02
paxos min wait = 0.01
mon osd prime pg temp = false
mon warn on insecure global id reclaim allowed = false
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail crit = 1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
mon max pg per osd = 2000
osd crush chooseleaf type = 0
osd crush update on start = false
osd objectstore = $STORE
memstore device bytes = 6442450944
bluestore block create = true
bluestore block size = 10737418240
osd memory target = 939524096
osd heartbeat grace = 60
run dir = $D/run
admin socket = $D/run/\$name.asok
log file = $D/log/\$name.log
log to stderr = false
setuser match path =
keyring = /dev/null
mon data = $D/mon
osd data = $D/osd
rgw frontends = beast endpoint=127.0.0.1:$RP tcp_nodelay=1
rgw enable ops log = false
rgw enable usage log = false
rgw enable gc threads = true
rgw run sync thread = false
rgw num zone opstate shards = 8
rgw override bucket index max shards = 1
rgw data log num shards = 1
rgw md log max shards = 1
rgw usage max shards = 1
rgw gc max objs = 4
rgw lc max objs = 4
rgw objexp hints num shards = 4
rgw gc obj min wait = 5
rgw gc processor period = 10
rgw user max buckets = 1000
rgw dns name =
EOF
    monmaptool --create --clobber --fsid "$FS" --addv a "[v2:127.0.0.1:$MP]" "$D/monmap" >/dev/null
    ceph-mon --mkfs -i a --monmap "$D/monmap" -c "$C" >/dev/null 2>&1
  fi
  one mon
  ceph() { timeout 30 /usr/bin/ceph -c "$C" --connect-timeout 20 "$@"; }
  if [ $fresh = 1 ]; then
    ceph osd new "$U" >/dev/null
    ceph osd crush add osd.0 1.0 root=default host=h >/dev/null 2>&1
    ceph-osd --mkfs -i 0 --osd-uuid "$U" -c "$C" > "$D/log/mkfs.out" 2>&1
  fi
  one osd; one rgw
  [ $fresh = 1 ] && timeout 60 radosgw-admin -c "$C" -n client.rgw user create --uid=test --display-name=t --access-key=test --secret=testing > "$D/log/user.out" 2>&1
  for i in $(seq 600); do curl -s -o /dev/null "http://127.0.0.1:$RP/" && break; ours rgw >/dev/null || { echo "rgw died"; tail -5 "$D"/log/*; exit 1; }; sleep 0.05; done
  python3 - "$RP" "$B" <<'PY'
import sys, hmac, hashlib, time, http.client
port, bucket = sys.argv[1:]; host = '127.0.0.1:' + port
t = time.gmtime(); d = time.strftime('%Y%m%d', t); dt = time.strftime('%Y%m%dT%H%M%SZ', t); e = hashlib.sha256(b'').hexdigest()
cr = 'PUT\n/%s\n\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n\nhost;x-amz-content-sha256;x-amz-date\n%s' % (bucket, host, e, dt, e)
k = b'AWS4testing'
for x in (d, 'us-east-1', 's3', 'aws4_request'): k = hmac.new(k, x.encode(), 'sha256').digest()
sg = hmac.new(k, ('AWS4-HMAC-SHA256\n%s\n%s/us-east-1/s3/aws4_request\n' % (dt, d) + hashlib.sha256(cr.encode()).hexdigest()).encode(), 'sha256').hexdigest()
c = http.client.HTTPConnection('127.0.0.1', int(port))
c.request('PUT', '/' + bucket, headers={'Host': host, 'x-amz-content-sha256': e, 'x-amz-date': dt, 'Content-Length': '0',
  'Authorization': 'AWS4-HMAC-SHA256 Credential=test/%s/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=%s' % (d, sg)})
r = c.getresponse(); b = r.read()
if r.status != 200: sys.exit('bucket: %d %s' % (r.status, b[:300]))
PY
  echo "{\"endpoint\":\"http://127.0.0.1:$RP\",\"accessKeyId\":\"test\",\"secretAccessKey\":\"testing\",\"ready_ms\":$(( ($(date +%s%N)-t0)/1000000 ))}" | tee "$D/state.json"
  [ $cmd = start ] && exit 0
  trap 'kill ${SL:-} 2>/dev/null; exec "$0" stop "$D"' TERM INT; while :; do setpriv --pdeathsig KILL sleep 3600 > /dev/null 2>&1 < /dev/null & SL=$!; wait $SL || true; done ;;
stop) for n in rgw osd mon; do p=$(ours $n) && { kill $p; for i in $(seq 300); do ours $n >/dev/null || break; sleep 0.05; done; p=$(ours $n) && kill -9 $p; } || true; done ;;
crash) for n in ${3:-rgw osd mon}; do p=$(ours $n) && kill -9 $p || true; done ;;
revive) ours "$3" >/dev/null || one "$3" ;;
pause) kill -STOP "$(ours "$3")" ;;
resume) kill -CONT "$(ours "$3")" ;;
status) for n in mon osd rgw; do if p=$(ours $n); then echo "$n pid $p rss_kb $(awk '/VmRSS/{print $2}' /proc/$p/status)"; else echo "$n down"; fi; done ;;
esac
